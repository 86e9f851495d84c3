/**
 * Node's `http`. An `import` of it reads all its exports, and so loads undici for `WebSocket`: 60 ms of CPU time at
 * every start, and 4 MB.
 */
export const http = process.getBuiltinModule('node:http');
