/** Loads what the addresses of a page are called, and tells every `Address` in it. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Answers } from '../client/answers.ts';
import { useLoaded } from '../client/use-answer.ts';
import { labelOf } from '../ui/address.tsx';
import { AddressNames, NO_NAMES } from '../ui/address-names.ts';
import type { KnownName, KnownNames } from '../ui/known-names.ts';

/** Most addresses asked for at once. */
const PER_REQUEST = 100;

/** Most addresses of a page. Those after them are shown by their digits. */
const MAX_ADDRESSES = 300;

type Named = Answers['address_names']['names'][number];

/** The names of these addresses; while they are loaded, those that were known before. */
export function useNames(addresses: Iterable<string | null | undefined>): KnownNames {
  const known = useRef(NO_NAMES);
  const given = [...addresses].flatMap((address) => (address == null ? [] : [address.toLowerCase()]));
  const wanted = [...new Set(given)].slice(0, MAX_ADDRESSES);
  const loaded = useLoaded<readonly Named[]>(`address_names ${wanted.join()}`, async (api, signal) => {
    const pages: Promise<readonly Named[]>[] = [];
    for (let at = 0; at < wanted.length; at += PER_REQUEST) {
      const part = wanted.slice(at, at + PER_REQUEST).join();
      pages.push(api.get('address_names', { addresses: part }, signal).then(({ data }) => data.names));
    }
    return { data: (await Promise.all(pages)).flat(), exchanges: [] };
  });
  const shown = useRef<readonly Named[] | undefined>(undefined);
  if (loaded.data !== undefined && loaded.data !== shown.current) {
    shown.current = loaded.data;
    known.current = new Map(loaded.data.map((name) => [name.address, knownName(name)]));
  }
  return known.current;
}

function knownName(name: Named): KnownName {
  const { symbol, decimals, type, contract } = name;
  return { label: labelOf(name, 'address'), symbol, decimals, type, contract };
}

export function NameProvider({ names, children }: { names: KnownNames; children: ComponentChildren }) {
  return <AddressNames.Provider value={names}>{children}</AddressNames.Provider>;
}
