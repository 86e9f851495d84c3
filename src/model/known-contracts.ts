/** Contracts that the rules of an index treat differently, by chain id. Configuration adds to them. */
import type { Hex } from '../lib/hex.ts';

type ByChain = Readonly<Record<number, readonly Hex[]>>;

/** The wrapped native coins of rules 1. Never changed: indexes of the first releases do not name theirs. */
export const FIRST_WRAPPED_NATIVE: ByChain = {
  1: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'],
  10: ['0x4200000000000000000000000000000000000006'],
  56: ['0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'],
  137: ['0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'],
  143: ['0x3bd359c1119da7da1d913d1c4d2b7c461115433a'],
  8453: ['0x4200000000000000000000000000000000000006'],
  42161: ['0x82af49447d8a07e3bd95bd0d56f35241523fbab1'],
  43114: ['0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'],
};

/** The wrapped native coins of a new index. */
export const WRAPPED_NATIVE: ByChain = FIRST_WRAPPED_NATIVE;
