/** The settings that the command line accepts. Imports nothing, so that `--help` need not load the schema. */

/** The flags: which setting each sets, and its line of `--help`. */
export const FLAGS = [
  { flag: '--node-http', value: '<url>', path: 'node_http', help: "the node's JSON-RPC over HTTP" },
  { flag: '--node-ws', value: '<url>', path: 'node_ws', help: "the node's WebSocket" },
  { flag: '--data-dir', value: '<dir>', path: 'data_dir', help: 'folder of index.db and keys.db' },
  { flag: '--host', value: '<host>', path: 'server.host', help: 'address to listen on' },
  { flag: '--port', value: '<port>', path: 'server.port', help: 'port to listen on' },
  {
    flag: '--start-block',
    value: '<block>',
    path: 'index.start_block',
    help: 'first block: N, earliest or latest',
  },
  { flag: '--log-format', value: '<format>', path: 'log.format', help: 'auto, pretty or json' },
  { flag: '--log-level', value: '<level>', path: 'log.level', help: 'debug, info, warn or error' },
] as const;
export type Flag = (typeof FLAGS)[number]['flag'];

/** The flags given on the command line, as texts. */
export type FlagValues = Partial<Record<Flag, string>>;
