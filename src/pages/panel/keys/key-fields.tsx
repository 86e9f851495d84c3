/** The fields of a key, for the forms that create and change keys. */
import {
  allowOfField,
  fieldOfTime,
  type KeyList,
  type ListedKey,
  tierText,
  timeOfField,
} from './key-text.ts';

export interface KeySettings {
  name: string;
  tier: string;
  expiresAt: string | null;
  allow: string[];
}

interface KeyFieldsProps {
  tiers: KeyList['tiers'];
  /** The key to change. */
  value?: ListedKey;
  /** Omits expiry and allow list. */
  isShort?: boolean;
}

export function KeyFields({ tiers, value, isShort = false }: KeyFieldsProps) {
  const tierName = value?.tier ?? tiers[0]?.name;
  return (
    <>
      <label class="field">
        Name
        <input
          name="name"
          required
          maxLength={200}
          autocomplete="off"
          placeholder="Owner of the key"
          defaultValue={value?.name ?? ''}
        />
      </label>
      <label class="field">
        Tier
        {/* Of a select Preact ignores defaultValue. */}
        <select name="tier">
          {tiers.map((tier) => (
            <option key={tier.name} value={tier.name} selected={tier.name === tierName}>
              {tierText(tier)}
            </option>
          ))}
        </select>
      </label>
      {!isShort && <RareFields value={value} />}
    </>
  );
}

export function RareFields({ value }: { value?: ListedKey | undefined }) {
  return (
    <>
      <label class="field">
        Expires, UTC (empty: never)
        <input type="datetime-local" name="expiresAt" defaultValue={fieldOfTime(value?.expiresAt ?? null)} />
      </label>
      <label class="field">
        Allowed only (one per line; empty: everything)
        <textarea
          name="allow"
          rows={3}
          spellcheck={false}
          placeholder={'GET /api/*\neth_call'}
          defaultValue={value?.allow.join('\n') ?? ''}
        />
      </label>
    </>
  );
}

export function settingsOf(form: HTMLFormElement): KeySettings {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '');
  return {
    name: text('name'),
    tier: text('tier'),
    expiresAt: timeOfField(text('expiresAt')),
    allow: allowOfField(text('allow')),
  };
}
