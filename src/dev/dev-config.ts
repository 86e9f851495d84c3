/** The configuration of the daemon started by `atlas-node dev`. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { type Config, type ParsedConfig, parseConfig } from '../config/parse-config.ts';
import type { Hex } from '../lib/hex.ts';

export interface DevSettings {
  node: { url: string; wsUrl: string };
  /** The demo chain's own wrapped native coin. */
  wrapped: Hex;
  dataDir: string;
  /** The port given on the command line. */
  port?: string | undefined;
}

/** Length of the generated operator token, used if none is configured. */
const ADMIN_TOKEN_BYTES = 12;

/** The environment applies here too, except for the node, the data and the wrapped coin, which belong to the demo. */
export function devConfig(settings: DevSettings, env: Record<string, string | undefined>): ParsedConfig {
  const { config, sources } = parseConfig({
    env: { ...env, ATLAS_CHAIN__WRAPPED_NATIVE: settings.wrapped },
    flags: {
      '--node-http': settings.node.url,
      '--node-ws': settings.node.wsUrl,
      '--data-dir': settings.dataDir,
      ...(settings.port !== undefined && { '--port': settings.port }),
    },
  });
  // Operators cannot permit these methods, because they control the node. Controlling this node is their purpose.
  const rpc = { ...config.rpc, allow: [...config.rpc.allow, 'anvil_*'] };
  const sourcesOfDemo: Record<string, string> = {};
  let { admin_token, index } = config;
  if (admin_token === '') {
    admin_token = randomBytes(ADMIN_TOKEN_BYTES).toString('base64url');
    sourcesOfDemo['admin_token'] = 'demo';
  }
  if (sources['index.stale_seconds'] === 'default') {
    index = { ...index, stale_seconds: 0 }; // an unused local chain mines no blocks
    sourcesOfDemo['index.stale_seconds'] = 'demo';
  }
  return { config: { ...config, index, rpc, admin_token }, sources: { ...sources, ...sourcesOfDemo } };
}

/** The configured port, or any free one (0) if no port was requested and the default one is taken. */
export async function withUsablePort(parsed: ParsedConfig): Promise<Config> {
  const { config, sources } = parsed;
  const { host, port } = config.server;
  if (sources['server.port'] !== 'default' || !(await isTaken(host, port))) return config;
  return { ...config, server: { ...config.server, port: 0 } };
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(false)));
  });
}
