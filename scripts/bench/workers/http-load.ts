/** The worker that loads an HTTP server. */
import { HttpLoad, type LoadResult, type LoadSpec } from '../load/http-load.ts';

export function httpLoadActions() {
  let load: HttpLoad | null = null;
  return {
    /** Loads a server for the given time. */
    run: (spec: LoadSpec): Promise<LoadResult> => new HttpLoad(spec).finished(),
    /** Starts a load that `finish` ends. */
    start(spec: LoadSpec): void {
      load = new HttpLoad(spec);
    },
    finish(): Promise<LoadResult> {
      if (load === null) throw new Error('there is no load to finish');
      return load.finish();
    },
  };
}
