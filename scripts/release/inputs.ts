/** The inputs of every builder. */
export interface ReleaseInputs {
  /** The project's root. */
  root: string;
  /** The folder for the artefacts. */
  out: string;
  /** The single binary for `platform`, such as linux-x64. */
  binary: string;
  platform: string;
  /** The licences of all that the binary contains. */
  notices: string;
  manifest: { name: string; version: string; description: string; license: string };
}
