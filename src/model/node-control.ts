/** JSON-RPC namespaces that control the node itself: no key may ever use them, whatever the configuration says. */
export const NODE_CONTROL_NAMESPACES: readonly string[] = [
  'admin',
  'personal',
  'miner',
  'engine',
  'anvil',
  'hardhat',
  'evm',
];
