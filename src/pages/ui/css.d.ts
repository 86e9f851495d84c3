/** esbuild bundles the style sheets that a page imports. */
declare module '*.css';
