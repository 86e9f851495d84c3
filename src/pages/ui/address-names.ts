/** What the addresses of a page are called, for every `Address` on it that has no label of its own. */
import { createContext } from 'preact';
import type { KnownNames } from './known-names.ts';

export const NO_NAMES: KnownNames = new Map();

export const AddressNames = createContext(NO_NAMES);
