/** A daemon as a service: its log, its messages to the service manager, and the reloading of its configuration. */
import { checkPaths, type Loaded } from '../config/load.ts';
import { takeOver } from '../config/reload.ts';
import type { Parsed } from '../config.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { ConfigError } from '../errors.ts';
import { type AdjustableLogger, createLogger } from '../log.ts';
import { versionText } from '../version.ts';
import { announceStart, statusText, supervise } from './supervision.ts';
import { connectSystemd, type Systemd } from './systemd.ts';

export interface Service {
  daemon: Daemon;
  /** Reads the configuration again and applies what can change while the daemon runs. Anything refused is logged. */
  reload(): void;
  /** Settles like the daemon's `closed`; also rejects when a reload failed in a way that leaves the daemon unusable. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the daemon of a configuration; `load` reads that configuration again. Null when the signal ended the start.
 * Throws ConfigError or FatalError.
 */
export async function startService(
  loaded: Loaded,
  load: () => Promise<Loaded>,
  signal: AbortSignal,
): Promise<Service | null> {
  checkPaths(loaded);
  const log = createLogger(loaded.config.log);
  log.info({ version: versionText, configuration: loaded.file, pid: process.pid }, 'starting');
  const systemd = connectSystemd(process.env, (reason) => log.warn({ reason }, 'systemd is not notified'));
  const endStart = systemd && announceStart(systemd);
  try {
    const daemon = await startDaemon(loaded.config, { log, sources: loaded.sources, signal });
    const endSupervision =
      systemd && supervise(systemd, daemon, () => log.error({}, 'the indexer has not reported for too long'));
    const reloads = new Reloads({ daemon, log, systemd, load }, loaded);
    return {
      daemon,
      reload: () => reloads.request(),
      ended: Promise.race([daemon.closed, reloads.failed]),
      async close() {
        endSupervision?.();
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
    endStart?.();
  }
}

interface Reloadable {
  daemon: Daemon;
  log: AdjustableLogger;
  systemd: Systemd | null;
  load: () => Promise<Loaded>;
}

/** Reloads the configuration on each request, one at a time. */
class Reloads {
  /** Rejects with any error other than one in the configuration. */
  readonly failed: Promise<never>;
  private readonly parts: Reloadable;
  private inForce: Parsed;
  private last = Promise.resolve();
  private fail: (error: unknown) => void = () => undefined;

  constructor(parts: Reloadable, inForce: Parsed) {
    this.parts = parts;
    this.inForce = inForce;
    this.failed = new Promise((_, reject) => {
      this.fail = reject;
    });
    this.failed.catch(() => undefined); // `ended` passes it on to whoever runs the service
  }

  request(): void {
    this.last = this.last.then(() => this.reload()).catch(this.fail);
  }

  private async reload(): Promise<void> {
    const { daemon, log, systemd } = this.parts;
    systemd?.notify({ RELOADING: 1, MONOTONIC_USEC: String(process.hrtime.bigint() / 1000n) });
    try {
      await this.readAgain();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      log.error({ reason: error.message }, 'the configuration was not taken over');
    }
    systemd?.notify({ READY: 1, STATUS: statusText(daemon.status()) });
  }

  private async readAgain(): Promise<void> {
    const { daemon, log, load } = this.parts;
    const next = await load();
    checkPaths(next);
    const { parsed, changed, ignored } = takeOver(this.inForce, next);
    await daemon.reload(parsed);
    log.level = parsed.config.log.level;
    this.inForce = parsed;
    log.info({ changed }, 'the configuration was read again');
    if (ignored.length > 0) log.warn({ ignored }, 'some changed settings take a restart');
  }
}
