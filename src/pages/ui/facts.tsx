/** Named figures side by side. */
import type { ComponentChildren } from 'preact';

export interface Fact {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}

/** Entries that are null are left out. */
export function Facts({ facts }: { facts: readonly (Fact | null)[] }) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact.name}>
              <dt>{fact.name}</dt>
              <dd>
                {fact.value}
                {fact.note != null && <small>{fact.note}</small>}
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
