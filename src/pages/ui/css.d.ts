/** esbuild bundles the style sheets imported by a page. */
declare module '*.css';
