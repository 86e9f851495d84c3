/** JSON-RPC namespaces that control the node itself. No configuration can open them to a key. */
export const NODE_CONTROL_NAMESPACES: readonly string[] = [
  'admin',
  'personal',
  'miner',
  'engine',
  'anvil',
  'hardhat',
  'evm',
];
