/**
 * Most bytes of request headers. A browser's cookies for a host shared with other services exceed the library's default
 * of 4 KiB. The library reads the variable when it loads, so import this module first. In the bundle that is too late:
 * a chunk runs its imports of packages before its own code. So cli.ts imports this module, too, long before the server.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
