/** Settings of every daemon that a test starts, unless the test gives others. */
export const TEST_SETTINGS = {
  ATLAS_INDEX__POLL_MS: '20',
  // The test chains are in the past.
  ATLAS_INDEX__STALE_SECONDS: '0',
  // Generated chains have no block 0. With "earliest", the daemon would wait 30 s before it believes that the node has
  // pruned it. On a chain that has one, a test of its transfers sets "earliest".
  ATLAS_INDEX__START_BLOCK: '1',
} as const;
