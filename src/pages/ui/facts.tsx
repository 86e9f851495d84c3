/** Named figures, side by side. */
import type { ComponentChildren } from 'preact';

export interface Fact {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}

/** Null entries are omitted. */
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

/** A fraction from 0 to 1 as a bar. Its value is shown beside it as a figure. */
export function Meter({ share }: { share: number }) {
  return (
    <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="whole" width="100" height="6" rx="1" />
      <rect class="share" width={Math.max(0.5, Math.min(1, share) * 100)} height="6" rx="1" />
    </svg>
  );
}
