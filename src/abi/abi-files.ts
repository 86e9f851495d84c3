/** The operator's ABI files: JSON lists as compilers write them, alone or as `abi` of an artifact. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../lib/errors.ts';
import { fileErrorReason } from '../lib/files.ts';
import { settingName } from '../lib/setting-name.ts';
import { isObject } from '../lib/text.ts';
import { parseDeclaration } from './declaration.ts';
import type { AddedSignature } from './signatures.ts';

const MAX_FILES = 1_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

const KINDS = new Map<unknown, AddedSignature['kind']>([
  ['function', 'method'],
  ['event', 'event'],
  ['error', 'error'],
]);

const HASH_DIGITS: Record<AddedSignature['kind'], number> = { method: 8, error: 8, event: 64 };

/** Digits that a declaration hashes to. */
type Hash = (signature: string) => string;

/**
 * The declarations of all `.json` files of a folder, in the order of their names; none for an empty path. Throws a
 * ConfigError that names each file that cannot be used, and why.
 */
export async function loadAbiFolder(folder: string): Promise<AddedSignature[]> {
  if (folder === '') return [];
  const files = abiFilesIn(folder);
  const hash = await loadHash();
  const mistakes: string[] = [];
  const found = new Map<string, AddedSignature>();
  for (const file of files) {
    try {
      for (const added of readAbi(file, hash)) found.set(`${added.kind} ${added.declaration}`, added);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(`${settingName('explorer.abi_dir')}: ${error.message}`);
    }
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return [...found.values()];
}

function abiFilesIn(folder: string): string[] {
  const names = attempt(
    () => readdirSync(folder),
    `${settingName('explorer.abi_dir')}: cannot read ${folder}`,
  );
  const files = names.filter((name) => name.endsWith('.json')).sort();
  if (files.length === 0)
    throw new ConfigError(
      `${settingName('explorer.abi_dir')}: ${folder} has no ABI files (*.json); leave the setting empty for none`,
    );
  if (files.length > MAX_FILES)
    throw new ConfigError(
      `${settingName('explorer.abi_dir')}: ${folder} has more than ${MAX_FILES} ABI files`,
    );
  return files.map((name) => join(folder, name));
}

/** Loaded only where there are files, as it takes 20 MB. */
async function loadHash(): Promise<Hash> {
  const { keccak256, stringToBytes } = await import('viem/utils');
  return (signature) => keccak256(stringToBytes(signature)).slice(2);
}

/** Throws ConfigError for a file that is no ABI. Its constructors and fallbacks are skipped. */
function readAbi(file: string, hash: Hash): AddedSignature[] {
  const refusal = `cannot read ${file}`;
  if (attempt(() => statSync(file), refusal).size > MAX_FILE_BYTES)
    throw new ConfigError(`${file} is larger than 16 MB, so it is no ABI`);
  const content = parseJson(
    attempt(() => readFileSync(file, 'utf8'), refusal),
    file,
  );
  const list = isObject(content) ? content.abi : content;
  if (!Array.isArray(list))
    throw new ConfigError(`${file} is no ABI: a JSON list, or an object with such a list as abi`);
  return signaturesOf(list, file, hash);
}

/** The declarations of an ABI that the program has. */
export async function signaturesOfAbi(abi: readonly unknown[]): Promise<AddedSignature[]> {
  return signaturesOf(abi, 'an ABI', await loadHash());
}

function signaturesOf(abi: readonly unknown[], file: string, hash: Hash): AddedSignature[] {
  return abi.flatMap((item, i) => {
    if (!isObject(item)) throw new ConfigError(`${file}: item ${i + 1} is not an object`);
    const kind = KINDS.get(item.type);
    if (kind === undefined || item.anonymous === true) return [];
    return [signatureOf(kind, item, `${file}: item ${i + 1}`, hash)];
  });
}

function signatureOf(
  kind: AddedSignature['kind'],
  { name, inputs }: Record<string, unknown>,
  place: string,
  hash: Hash,
): AddedSignature {
  try {
    if (typeof name !== 'string') throw new SyntaxError('its name is missing');
    const declaration = `${name}(${paramsText(inputs ?? [])})`;
    const digits = hash(parseDeclaration(declaration).signature);
    return { kind, hash: `0x${digits.slice(0, HASH_DIGITS[kind])}`, declaration };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ConfigError(`${place}: ${error.message}`);
  }
}

/** Parameters as a declaration writes them. */
function paramsText(params: unknown, depth = 0): string {
  if (!Array.isArray(params) || depth > 16) throw new SyntaxError('its parameters are no list');
  return params.map((param: unknown) => paramText(param, depth)).join(', ');
}

function paramText(param: unknown, depth: number): string {
  if (!isObject(param) || typeof param.type !== 'string') throw new SyntaxError('a parameter has no type');
  const { type, name, indexed, components } = param;
  const text = type.startsWith('tuple')
    ? `(${paramsText(components, depth + 1)})${type.slice('tuple'.length)}`
    : type;
  const isName = typeof name === 'string' && /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'indexed';
  return `${text}${indexed === true ? ' indexed' : ''}${isName ? ` ${name}` : ''}`;
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new ConfigError(`${file} is not JSON`);
  }
}

function attempt<T>(action: () => T, refusal: string): T {
  try {
    return action();
  } catch (error) {
    throw new ConfigError(`${refusal}: ${fileErrorReason(error)}`);
  }
}
