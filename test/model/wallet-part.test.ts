/** A wallet's part in a transaction is the net change of each asset, whatever order and size the transaction has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { NATIVE, type PartTransfer, partOf, type WalletPart } from '../../src/model/wallet-part.ts';

const [WALLET, ROUTER, OTHER] = [1, 2, 3];
const [USDC, MEME, ART, GAME] = [11, 12, 13, 14];
const { erc20, erc721, erc1155, nativeDirect, nativeInternal } = TransferKind;

function transfer(
  from: number,
  to: number,
  token: number,
  amount: bigint,
  kind: number = token === NATIVE ? nativeDirect : erc20,
  tokenNumber = '',
): PartTransfer {
  return { from, to, kind, token, tokenNumber, amount };
}

const shown = (part: WalletPart) => {
  const side = (amounts: ReturnType<WalletPart['given']>) =>
    amounts.map(
      ({ token, tokenNumber, amount }) => `${amount} of ${token}${tokenNumber && ` ${tokenNumber}`}`,
    );
  return [side(part.given()), side(part.received())];
};

test('a refund reduces what was paid, in each asset', () => {
  const part = partOf(WALLET, [
    transfer(WALLET, ROUTER, NATIVE, 100n),
    transfer(WALLET, ROUTER, USDC, 50n),
    transfer(ROUTER, WALLET, MEME, 7n),
    transfer(ROUTER, WALLET, NATIVE, 30n, nativeInternal),
    transfer(ROUTER, WALLET, USDC, 50n),
    transfer(ROUTER, WALLET, MEME, 5n),
    transfer(OTHER, ROUTER, MEME, 1_000n),
  ]);
  assert.deepEqual(shown(part), [['70 of 0'], ['12 of 12']]);
  assert.equal(part.changeOf(transfer(ROUTER, WALLET, USDC, 50n)), 0n);
  assert.equal(part.changeOf(transfer(ROUTER, WALLET, MEME, 7n)), 12n);
});

test('transfers to oneself and of nothing change nothing', () => {
  const part = partOf(WALLET, [
    transfer(WALLET, WALLET, MEME, 5n),
    transfer(ROUTER, WALLET, USDC, 0n),
    transfer(WALLET, WALLET, NATIVE, 5n),
  ]);
  assert.deepEqual(shown(part), [[], []]);
});

test('a collection is counted in tokens, each id of an ERC-1155 contract is an asset', () => {
  const part = partOf(WALLET, [
    transfer(ROUTER, WALLET, ART, 1n, erc721, '01'),
    transfer(ROUTER, WALLET, ART, 1n, erc721, '02'),
    transfer(WALLET, ROUTER, GAME, 3n, erc1155, '0A'),
    transfer(ROUTER, WALLET, GAME, 4n, erc1155, '0B'),
  ]);
  assert.deepEqual(shown(part), [['3 of 14 0A'], ['2 of 13 01', '4 of 14 0B']]);
});

test('of a contract with units and NFTs only the units count', () => {
  const nft = transfer(ROUTER, WALLET, MEME, 1n, erc721, '01');
  const part = partOf(WALLET, [
    nft,
    transfer(ROUTER, WALLET, MEME, 900n),
    transfer(WALLET, ROUTER, NATIVE, 1n),
  ]);
  assert.deepEqual(shown(part), [['1 of 0'], ['900 of 12']]);
  assert.equal(part.changeOf(nft), 900n);
});
