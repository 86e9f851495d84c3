/**
 * A Chromium that needs neither root nor a system package: the system's if present, else the binary inside the npm
 * package `@sparticuz/chromium`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LaunchOptions } from 'playwright-core';

export const SYSTEM_CHROMIUM = '/usr/bin/chromium';

/** `package` for the packaged Chromium, or the path of another one. */
const CHOICE = 'TEST_CHROMIUM';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--in-process-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const MODULES = fileURLToPath(new URL('../node_modules', import.meta.url));
const PACKAGE = join(MODULES, '@sparticuz', 'chromium');
const CACHE = join(MODULES, '.cache', 'atlas-chromium');

/**
 * The package inflates its binary, SwiftShader and fonts into the temporary folder, and the shared libraries (NSS,
 * NSPR) only if it takes the machine for a cloud function.
 */
const INFLATE = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;
const INFLATE_ENV = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };

/** Playwright's options to start Chromium here. Throws if none can start. */
export function chromiumLaunch(choice = process.env[CHOICE] ?? ''): LaunchOptions {
  if (choice === 'package') return packagedChromium();
  if (choice !== '') return { executablePath: choice, args: ARGUMENTS };
  if (existsSync(SYSTEM_CHROMIUM)) return { executablePath: SYSTEM_CHROMIUM, args: ARGUMENTS };
  return packagedChromium();
}

function packagedChromium(): LaunchOptions {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const folder = join(CACHE, version);
  if (!existsSync(folder)) inflate(folder);
  return launchFrom(folder);
}

function launchFrom(folder: string): LaunchOptions & { executablePath: string } {
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
    FONTCONFIG_FILE: join(folder, 'fonts.conf'),
  };
  return { executablePath: join(folder, 'chromium'), args: ARGUMENTS, env };
}

/** Several test files may do this at once. Each inflates its own copy, and the first to finish publishes it. */
function inflate(folder: string): void {
  mkdirSync(CACHE, { recursive: true });
  const own = mkdtempSync(`${folder}-`);
  try {
    const env = { ...process.env, ...INFLATE_ENV, TMPDIR: own };
    execFileSync(process.execPath, ['--input-type=module', '--eval', INFLATE], { cwd: MODULES, env });
    writeFileSync(join(own, 'fonts.conf'), fontConfig(folder));
    checkStart(own);
    renameSync(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // another process was first
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** The package's configuration names folders of a cloud function. */
function fontConfig(folder: string): string {
  return `<?xml version="1.0"?>
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'font-cache')}</cachedir>
</fontconfig>
`;
}

/**
 * A missing shared library or a foreign processor shows here, with its message, rather than as a browser that vanished.
 */
function checkStart(folder: string): void {
  const { executablePath, env } = launchFrom(folder);
  execFileSync(executablePath, ['--version'], { env });
}
