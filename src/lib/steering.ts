/** JSON-RPC namespaces that steer the node itself: no key may ever reach them, whatever the configuration says. */
export const STEERING_NAMESPACES: readonly string[] = [
  'admin',
  'personal',
  'miner',
  'engine',
  'anvil',
  'hardhat',
  'evm',
];
