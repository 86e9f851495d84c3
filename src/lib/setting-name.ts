/**
 * Settings by the names that the operator gave them: a message about `--start-block` must not speak of a line that no
 * file has. A process has one configuration; each thread gets the names when it starts.
 */

interface GivenName {
  /** `--start-block`, `ATLAS_INDEX__START_BLOCK`, or the dotted path in a file. */
  word: string;
  /** Such as `atlas.toml line 3`; only in a file. Without its folder: the public status shows it. */
  at?: string;
}

/** Names of the settings that are set, by dotted path. */
export type SettingNames = Readonly<Record<string, GivenName>>;

let names: SettingNames = {};

export function nameSettings(given: SettingNames): void {
  names = given;
}

export function settingNames(): SettingNames {
  return names;
}

/** The setting as the operator wrote it, without the place; its dotted path if it is not set. */
export function settingWord(path: string): string {
  return names[path]?.word ?? path;
}

/** The same with the place: `index.start_block (atlas.toml line 3)`. */
export function settingName(path: string): string {
  const at = names[path]?.at;
  return at === undefined ? settingWord(path) : `${settingWord(path)} (${at})`;
}

/** The way out where the node in use cannot serve the chain. */
export function anotherNode(): string {
  return `if this stays, use another node (${settingName('node_http')})`;
}
