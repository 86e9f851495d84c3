/** Runs a daemon as a service: log, notifications to the service manager, and reloads of the configuration. */
import { checkPaths, type LoadedConfig } from '../../config/load-config.ts';
import type { ParsedConfig } from '../../config/parse-config.ts';
import { mergeReload } from '../../config/reload.ts';
import { type Daemon, startDaemon } from '../../daemon.ts';
import { ConfigError } from '../../lib/errors.ts';
import { versionText } from '../../lib/version.ts';
import { type AdjustableLogger, createLogger } from '../../log/logger.ts';
import { connectSystemd, extendStartTimeout, type Systemd, startHeartbeat, statusText } from './systemd.ts';

/** Longest time to close, with a margin. */
const CLOSE_SECONDS = 30;

export interface Service {
  daemon: Daemon;
  /**
   * Re-reads the configuration and applies the settings that can change at run time. Logs the settings that it rejects.
   */
  reload(): void;
  /** Settles like the daemon's `closed`. Also rejects when a failed reload leaves the daemon unusable. */
  ended: Promise<void>;
  /** Keeps serving for `server.drain_seconds` while `/readyz` reports not ready. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the daemon of a configuration. `load` re-reads that configuration. Null when the signal aborted the start.
 * Throws ConfigError or FatalError.
 */
export async function startService(
  loaded: LoadedConfig,
  load: () => Promise<LoadedConfig>,
  signal: AbortSignal,
): Promise<Service | null> {
  checkPaths(loaded);
  const log = createLogger(loaded.config.log);
  log.info({ version: versionText, configuration: loaded.file, pid: process.pid }, 'starting');
  const systemd = connectSystemd(process.env, (reason) => log.warn({ reason }, 'systemd is not notified'));
  const stopExtending = systemd && extendStartTimeout(systemd);
  try {
    const daemon = await startDaemon(loaded.config, { log, sources: loaded.sources, signal });
    const stopHeartbeat =
      systemd &&
      startHeartbeat(systemd, daemon, () => log.error({}, 'the indexer has not reported for too long'));
    const reloader = new ConfigReloader({ daemon, log, systemd, load }, loaded);
    return {
      daemon,
      reload: () => reloader.request(),
      ended: Promise.race([daemon.closed, reloader.failed]),
      async drain() {
        const seconds = loaded.config.server.drain_seconds;
        if (seconds > 0) {
          // May exceed the unit's TimeoutStopSec, and the time to close adds to it.
          systemd?.notify({ STATUS: 'draining', EXTEND_TIMEOUT_USEC: (seconds + CLOSE_SECONDS) * 1_000_000 });
          log.info({ seconds }, 'draining');
        }
        await daemon.drain();
      },
      async close() {
        await reloader.stop();
        stopHeartbeat?.();
        systemd?.notify({ STOPPING: 1, STATUS: 'stopping' });
        log.info({}, 'stopping');
        await daemon.close().finally(() => systemd?.close());
        log.info({}, 'stopped');
      },
    };
  } catch (error) {
    systemd?.close();
    if (!signal.aborted || error !== signal.reason) throw error;
    log.info({}, 'stopped before it was ready');
    return null;
  } finally {
    stopExtending?.();
  }
}

interface ReloaderDeps {
  daemon: Daemon;
  log: AdjustableLogger;
  systemd: Systemd | null;
  load: () => Promise<LoadedConfig>;
}

/** Reloads the configuration on each request, one at a time. */
class ConfigReloader {
  /** Rejects with any error except one in the configuration. */
  readonly failed: Promise<never>;
  private readonly deps: ReloaderDeps;
  /** The file that was read. At startup, a missing ./atlas.toml means the defaults; at a reload, it is a mistake. */
  private file: string | null;
  private current: ParsedConfig;
  private lastReload = Promise.resolve();
  private stopped = false;
  private fail: (error: unknown) => void = () => undefined;

  constructor(deps: ReloaderDeps, { file, ...current }: LoadedConfig) {
    this.deps = deps;
    this.file = file;
    this.current = current;
    this.failed = new Promise((_, reject) => {
      this.fail = reject;
    });
    this.failed.catch(() => undefined); // not unhandled: `ended` rejects with it
  }

  request(): void {
    this.lastReload = this.lastReload.then(() => this.reload()).catch(this.fail);
  }

  /** Ignores further requests; resolves when none is in progress. */
  stop(): Promise<void> {
    this.stopped = true;
    return this.lastReload;
  }

  private async reload(): Promise<void> {
    if (this.stopped) return;
    const { daemon, log, systemd } = this.deps;
    systemd?.notify({ RELOADING: 1, MONOTONIC_USEC: String(process.hrtime.bigint() / 1000n) });
    try {
      await this.applyReload();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.error({ reason: error.message }, 'the new configuration was rejected');
    }
    systemd?.notify({ READY: 1, STATUS: statusText(daemon.status()) });
  }

  private async applyReload(): Promise<void> {
    const { daemon, log, load } = this.deps;
    const next = await load();
    if (this.file !== null && next.file === null)
      throw new ConfigError(`${this.file} is gone: put it back, or restart to run without it`);
    checkPaths(next);
    const { parsed, changed, ignored } = mergeReload(this.current, next);
    await daemon.reload(parsed);
    log.level = parsed.config.log.level;
    this.current = parsed;
    this.file = next.file;
    log.info({ changed }, 'the configuration was reloaded');
    if (ignored.length > 0) log.warn({ ignored }, 'some changed settings need a restart');
  }
}
