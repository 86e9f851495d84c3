import assert from 'node:assert/strict';
import { test } from 'node:test';
import { methodPolicy } from '../../src/rpc/policy.ts';

test('standard reading and sending is allowed by default', () => {
  const allowed = methodPolicy({ allow: [] });
  for (const method of [
    'eth_blockNumber',
    'eth_getLogs',
    'eth_call',
    'eth_sendRawTransaction',
    'eth_feeHistory',
    'eth_notYetInvented',
    'net_version',
    'web3_clientVersion',
  ]) {
    assert.ok(allowed(method), method);
  }
});

test('accounts, subscriptions and other namespaces are not', () => {
  const allowed = methodPolicy({ allow: [] });
  for (const method of [
    'eth_accounts',
    'eth_sign',
    'eth_signTransaction',
    'eth_signTypedData_v4',
    'eth_sendTransaction',
    'eth_sendTransactionSync',
    'eth_sendUnsignedTransaction',
    'eth_newPendingTransactionFilter',
    'eth_subscribe',
    'debug_traceCall',
    'trace_block',
    'txpool_content',
    'admin_peers',
    'personal_unlockAccount',
    'miner_start',
    'engine_newPayloadV3',
    'anvil_mine',
    'hardhat_mine',
    'evm_mine',
    'rpc_modules',
    'eth',
    '',
    '_eth',
    'ETH_blockNumber',
    ' eth_call',
    'constructor',
    '__proto__',
  ]) {
    assert.equal(allowed(method), false, method);
  }
});

test('configured methods and namespaces are added, and nothing beside them', () => {
  const allowed = methodPolicy({ allow: ['debug_traceCall', 'trace_*', 'eth_accounts'] });
  assert.deepEqual(
    [
      'debug_traceCall',
      'trace_block',
      'trace_filter',
      'eth_accounts',
      'debug_traceTransaction',
      'tracex_block',
    ].map(allowed),
    [true, true, true, true, false, false],
  );
});

test('namespaces that steer the node cannot be configured', () => {
  for (const entry of [
    'admin_*',
    'personal_sign',
    'miner_start',
    'engine_*',
    'anvil_mine',
    'hardhat_*',
    'evm_mine',
    '*',
    'debug',
    '',
  ]) {
    assert.throws(
      () => methodPolicy({ allow: [entry] }),
      { name: 'ConfigError', message: /^rpc\.allow: / },
      entry,
    );
  }
  assert.ok(methodPolicy({ allow: ['anvil_*'], development: true })('anvil_mine'));
  assert.throws(() => methodPolicy({ allow: ['evm_*'], development: true }), { name: 'ConfigError' });
});
