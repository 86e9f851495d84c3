import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isCandidate,
  looksLike,
  suspicionOf,
  type WalletKnowledge,
} from '../../src/pages/explorer/wallet/suspicion.ts';
import { ZERO_ADDRESS } from '../../src/pages/ui/format.ts';

const WALLET = `0x${'1e'.repeat(20)}`;
const FRIEND = '0xd9a1b0b1e1ae382dbdc898ea68012ffcb2853a91';
/** Taken for FRIEND in a theft of 1,155 WBTC in 2024. */
const FAKE = '0xd9a1c3788d81257612e2581a6ea0ada244853a91';
const STRANGER = `0x${'77'.repeat(20)}`;
const USDC = `0x${'a0'.repeat(20)}`;
const OTHER_TOKEN = `0x${'b0'.repeat(20)}`;

const party = (address: string, coins: number, transfers: number, name: string | null = null) => ({
  address,
  coins,
  transfers,
  name,
});

const KNOWN: WalletKnowledge = {
  wallet: WALLET,
  parties: [party(FRIEND, 12, 4), party(FAKE, 0, 1), party(STRANGER, 1, 1)],
  held: [{ tokenAddress: USDC, symbol: 'USDC', transferCount: 9 }],
};

const usdc = (from: string, to: string, amount: string) => ({
  from,
  to,
  amount,
  tokenAddress: USDC,
  tokenId: null,
  symbol: 'USDC',
  decimals: 6,
  txHash: '0x1',
});
const coins = (from: string, to: string, amount: string) => ({
  ...usdc(from, to, amount),
  tokenAddress: null,
  symbol: 'MON',
  decimals: 18,
});

function verdict(
  transfer: Parameters<typeof suspicionOf>[0],
  initiated: boolean | null,
  known = KNOWN,
): string {
  const found = suspicionOf(transfer, known, initiated);
  return found === null ? 'clear' : found.isHidden ? 'hidden' : 'marked';
}

test('a transfer of nothing that the wallet did not send is hidden, its own is not', () => {
  for (const transfer of [usdc(WALLET, STRANGER, '0'), usdc(STRANGER, WALLET, '0')]) {
    assert.equal(verdict(transfer, false), 'hidden');
    assert.equal(verdict(transfer, null), 'marked');
    assert.equal(verdict(transfer, true), 'clear');
  }
  assert.equal(verdict(usdc(ZERO_ADDRESS, WALLET, '0'), false), 'hidden');
});

// Rewards of zero that the wallet claimed, the 20 million USDT of 2023 and the WBTC of 2024: three real courses.
test('a claim of nothing by the wallet itself stays in the list', () => {
  assert.equal(verdict(usdc(STRANGER, WALLET, '0'), true), 'clear');
});

test('a fake that shares 3 and 6 digits is told, as in the theft of 20 million USDT', () => {
  const intended = '0xa7b4bac8f0f9692e56750aefb5f6cb5516e90570';
  const fake = '0xa7bf48749d2e4aa29e3209879956b9baa9e90570';
  const known = { ...KNOWN, parties: [party(intended, 3, 1)] };
  assert.ok(looksLike(intended, fake));
  assert.equal(verdict(usdc(WALLET, fake, '0'), false, known), 'hidden');
  assert.equal(verdict(usdc(WALLET, fake, '20000000000000'), true, known), 'marked');
});

test('dust of a look-alike is hidden; what the wallet sent it, or what is no dust, is marked', () => {
  assert.equal(verdict(coins(FAKE, WALLET, `${10n ** 15n}`), false), 'hidden');
  assert.equal(verdict(usdc(FAKE, WALLET, '999999'), false), 'hidden');
  assert.equal(verdict(usdc(FAKE, WALLET, '1000000'), false), 'marked');
  assert.equal(verdict(usdc(WALLET, FAKE, '1'), true), 'marked');
  assert.equal(verdict(usdc(WALLET, FAKE, '1'), null), 'marked');
  assert.match(
    suspicionOf(usdc(WALLET, FAKE, '9'), KNOWN, true)?.reasons[0] ?? '',
    /^its address looks like another, 0xd9a1b0b1e1…b2853a91$/,
  );
});

test('the address that the wallet deals with is clear, though another one looks like it', () => {
  assert.equal(verdict(coins(FRIEND, WALLET, '1'), false), 'clear');
  assert.equal(verdict(coins(STRANGER, WALLET, '1'), false), 'clear');
  const named = { ...KNOWN, parties: [party(FRIEND, 0, 1, 'Friend'), party(FAKE, 9, 9)] };
  assert.equal(verdict(coins(FRIEND, WALLET, '1'), false, named), 'clear');
  assert.equal(verdict(coins(FAKE, WALLET, '1'), false, named), 'marked');
  const [reason] = suspicionOf(coins(FAKE, WALLET, '1'), named, false)?.reasons ?? [];
  assert.equal(reason, 'its address looks like that of Friend');
});

test('after coins were sent to a fake by mistake it is still marked, and so is the address it looks like', () => {
  const known = { ...KNOWN, parties: [party(FRIEND, 0.05, 1), party(FAKE, 1_155, 2)] };
  assert.equal(verdict(coins(WALLET, FAKE, `${10n ** 21n}`), true, known), 'marked');
  assert.equal(verdict(coins(WALLET, FRIEND, `${10n ** 16n}`), true, known), 'marked');
});

test('an address that looks like the wallet itself is told, the wallet and the zero address are not', () => {
  const own = `${WALLET.slice(0, 8)}${'0'.repeat(28)}${WALLET.slice(-6)}`;
  assert.equal(verdict(coins(own, WALLET, '1'), false), 'hidden');
  assert.equal(verdict(coins(WALLET, WALLET, '1'), false), 'clear');
  assert.equal(looksLike(ZERO_ADDRESS, `0x${'0'.repeat(36)}dead`), false);
  assert.equal(looksLike(`0x${'0'.repeat(36)}0001`, ZERO_ADDRESS), false);
});

test('a token with a held symbol in other letters is hidden; one of the same name only from a look-alike', () => {
  const fakeToken = (symbol: string, from: string, amount = '5000000') => ({
    ...usdc(from, WALLET, amount),
    tokenAddress: OTHER_TOKEN,
    symbol,
  });
  for (const symbol of ['USDС', 'U\u200bSDC', 'ＵＳＤＣ', 'ŪSDC'])
    assert.equal(verdict(fakeToken(symbol, STRANGER), false), 'hidden', symbol);
  // A bridged token with the same symbol, Tether's own spelling, and the token itself.
  for (const symbol of ['USDC', 'usdc', 'USD₮', 'USDC.e', '', '₿'])
    assert.equal(verdict(fakeToken(symbol, STRANGER), false), 'clear', symbol);
  assert.equal(verdict(fakeToken('USDC', FAKE), false), 'hidden');
  assert.equal(verdict(usdc(FRIEND, WALLET, '5000000'), false), 'clear');
  const wary = {
    ...KNOWN,
    held: [...KNOWN.held, { tokenAddress: OTHER_TOKEN, symbol: 'USDС', transferCount: 99 }],
  };
  assert.equal(verdict(usdc(STRANGER, WALLET, '5000000'), false, wary), 'clear');
  assert.equal(verdict(fakeToken('USDС', STRANGER), false, wary), 'hidden');
});

test('NFTs and tokens of unknown decimals are no dust', () => {
  const nft = {
    ...usdc(FAKE, WALLET, '1'),
    tokenId: '7',
    symbol: 'ART',
    tokenAddress: OTHER_TOKEN,
    decimals: null,
  };
  assert.equal(verdict(nft, false), 'marked');
  assert.equal(verdict({ ...nft, tokenId: null }, false), 'marked');
});

test('the sender is asked for only where it decides whether a transfer is hidden', () => {
  assert.equal(isCandidate(usdc(WALLET, STRANGER, '0'), KNOWN), true);
  assert.equal(isCandidate(usdc(FAKE, WALLET, '1'), KNOWN), true);
  assert.equal(isCandidate(usdc(FAKE, WALLET, '5000000'), KNOWN), false);
  assert.equal(isCandidate(usdc(STRANGER, WALLET, '1'), KNOWN), false);
});
