/** Messages to the WebSocket endpoints, with the code of the error that each gets. */

export const BAD_MESSAGES: readonly [text: string, code: number][] = [
  ['nonsense', -32700],
  ['{"jsonrpc":"2.0","id":1', -32700],
  ['[]', -32600],
  ['5', -32600],
  ['{"id":1,"method":"eth_chainId"}', -32600],
  [JSON.stringify(Array(1_001).fill(5)), -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_nothing","params":[]}', -32601],
  ['{"jsonrpc":"2.0","id":1,"method":"atlas_subscribe","params":[]}', -32601],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":{"a":1}}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe"}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":[5]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["heads"]}', -32601],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["__proto__"]}', -32601],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{"address":"0x1"}]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["wallet_transfers"]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{"adress":[]}]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{"commitStates":true}]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{},{"address":[]}]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["chainLogs",{"commitState":true}]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newPendingTransactions"]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_unsubscribe","params":[]}', -32602],
  ['{"jsonrpc":"2.0","id":1,"method":"eth_unsubscribe","params":["0x1"]}', -32000],
];

/** On `/ws/signals`; null: it is answered with a subscription. */
export const SIGNALS_MESSAGES: readonly [text: string, code: number | null][] = [
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":{"wallets":[]}}', null],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe"}', null],
  ['{"jsonrpc":"2.0","method":"eth_chainId","params":[]}', -32601],
  ['{"jsonrpc":"2.0","method":"eth_subscribe","params":["newHeads"]}', -32601],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":{"wallets":"0x12"}}', -32602],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":{"wallets":["0x12"]}}', -32602],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":{"tokens":[5]}}', -32602],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":{"events":["wallet_sold"]}}', -32602],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":{"fromBlock":-1}}', -32602],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":["all"]}', -32602],
  [`{"jsonrpc":"2.0","method":"atlas_subscribe","params":{"address":"0x${'1'.repeat(40)}"}}`, -32602],
  ['{"jsonrpc":"2.0","method":"atlas_subscribe","params":[{},{"wallets":[]}]}', -32602],
  ['{"jsonrpc":"2.0","method":"atlas_unsubscribe","params":["0x0"]}', -32000],
];
