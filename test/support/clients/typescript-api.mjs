/**
 * For `node --import`: resolves `typescript` to the copy that swagger-typescript-api brings. The project compiles with
 * TypeScript 7, which has no JavaScript API; the other generators still need one.
 */
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const { resolve } = createRequire(createRequire(import.meta.url).resolve('swagger-typescript-api'));
const typescript = pathToFileURL(resolve('typescript')).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript' ? { url: typescript, shortCircuit: true } : next(specifier, context),
});
