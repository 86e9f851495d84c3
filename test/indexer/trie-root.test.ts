import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rootOf } from '../../src/indexer/trie-root.ts';

/**
 * Roots that the trie of ethereumjs computed. One and two values have no or one branch, more than 16 and 128 of them
 * longer positions; nodes of short values lie inside their parents.
 */
const ROOTS = [
  [0, 1, '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'],
  [1, 1, '0xac92bc8d02906a87a573c32c72bb427036f0e43d7a7375c5c491ebba064add15'],
  [1, 20, '0x7195ae7abdc4a508eeafd936626224502c56e3b9e890189869debc0ce4bad7a4'],
  [1, 200, '0xaf651c8ef84ca72694b53716b2195e9c2ffa3dd17e2b24031d06f636ea9a73dd'],
  [2, 1, '0x08693bf7194a9e5481f518cc27be677512d038ddfb72263e13f0663e299ce2d8'],
  [2, 20, '0xe27fe2711befc281da0896f42fb56394a0e235d03cabedb8cae8c50b302c7101'],
  [2, 200, '0x8ab23a45123215eb8327c9903f8fae842185d5ab3dc1b986c550c773f3d8355b'],
  [17, 1, '0xa87383e5770cdf013b6e22804b06ef4598148f60ce269820130310470c20a0be'],
  [17, 20, '0xc2baf48f4315bd72ca2e101a2f66edef461de3fe91c8254f39734591390bec76'],
  [17, 200, '0x9aa4fc1df9c8c23cb27faff6d94b7a1a9c936963d5852d9e3a554f91a907594a'],
  [129, 1, '0x0fa21c70b7b79d5586ecbfcdf89aa5bb4c5d89f3c6ce6472ada730c8fa2119b6'],
  [129, 20, '0x4e912f5ac58bc1e310c23fde1afbb16c2ccf0ec13bf37b73cf3718f32b2dcc51'],
  [129, 200, '0xad99cd73c1dcd191d41ebe9ec3b635b83f605e52ae1d35d91c3b1e9ea90a679f'],
  [300, 1, '0x86107ec701a6bbf555749d8d3fd2e40ec6e43f0963cb6bed2cce3bd4743028b4'],
  [300, 20, '0x8b0db688071eddf7bb67f122d5f07829b988754aab9888824627de0f5f5ba774'],
  [300, 200, '0x0abf1bade68bf9e749d0deb56bc12e252dec1e151ba2691667d29b474b28bbec'],
] as const;

test('lists of all lengths have the roots that Ethereum gives them', () => {
  for (const [count, bytes, root] of ROOTS) {
    const values = Array.from({ length: count }, (_, i) => new Uint8Array(bytes).fill(1 + (i % 250)));
    assert.equal(rootOf(values), root, `${count} values of ${bytes} bytes`);
  }
});
