import assert from 'node:assert/strict';
import { test } from 'node:test';
import { methodPolicy } from '../../src/gateway/policy.ts';

test('standard reading and sending is allowed by default', () => {
  const allowed = methodPolicy({ allow: [] });
  for (const method of [
    'eth_blockNumber',
    'eth_getLogs',
    'eth_call',
    'eth_sendRawTransaction',
    'eth_feeHistory',
    'eth_notYetInvented',
    'eth_newPendingTransactionFilter',
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
    'eth_newpendingtransactionfilter',
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
    'eth_Accounts',
    'eth_SIGN',
    'eth_sendtransaction',
    ' eth_call',
    'constructor',
    '__proto__',
  ]) {
    assert.equal(allowed(method), false, method);
  }
});

test('a known method is offered by its exact name only', () => {
  const policies = [methodPolicy({ allow: [] }), methodPolicy({ allow: ['eth_*'] })];
  for (const method of [
    'eth_getLogs',
    'eth_newBlockFilter',
    'eth_getFilterChanges',
    'eth_sendRawTransaction',
  ]) {
    for (const allowed of policies) assert.ok(allowed(method), method);
    for (const variant of [
      method.toLowerCase(),
      `eth_${method[4]?.toUpperCase()}${method.slice(5)}`,
      `eth_${method.slice(4).toUpperCase()}`,
    ]) {
      for (const allowed of policies) assert.equal(allowed(variant), false, variant);
    }
  }
});

test('allows configured methods and namespaces, and nothing else', () => {
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

test('debug_* allows methods that read the chain; those that control the node or its files must be listed', () => {
  const allowed = methodPolicy({ allow: ['debug_*', 'debug_memStats'] });
  for (const method of [
    'debug_traceTransaction',
    'debug_traceBlockByHash',
    'debug_traceCallMany',
    'debug_storageRangeAt',
    'debug_getRawReceipts',
    'debug_getModifiedAccountsByNumber',
    'debug_accountRange',
    'debug_codeByHash',
    'debug_executionWitness',
    'debug_intermediateRoots',
    'debug_memStats',
  ]) {
    assert.ok(allowed(method), method);
  }
  for (const method of [
    'debug_setHead',
    'debug_resetHead',
    'debug_deleteChainSlice',
    'debug_insertReceipts',
    'debug_migrateReceipts',
    'debug_replayBlock',
    'debug_chaindbCompact',
    'debug_clearTxpool',
    'debug_freezeClient',
    'debug_getConfigValue',
    'debug_traceBlockFromFile',
    'debug_traceblockfromfile',
    'debug_getconfigvalue',
    'debug_standardTraceBlockToFile',
    'debug_standardTraceBadBlockToFile',
    'debug_cpuProfile',
    'debug_startGoTrace',
    'debug_writeMemProfile',
    'debug_setGCPercent',
    'debug_setMemoryLimit',
    'debug_verbosity',
    'debug_vmodule',
  ]) {
    assert.equal(allowed(method), false, method);
  }
  assert.ok(methodPolicy({ allow: ['debug_setHead'] })('debug_setHead'));
});

test('namespaces that control the node cannot be configured', () => {
  for (const entry of [
    'admin_*',
    'Admin_*',
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
