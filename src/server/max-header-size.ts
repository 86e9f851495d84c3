/**
 * Most bytes of request headers. A browser's cookies for a host shared with other services exceed the library's default
 * of 4 KiB. The library reads the variable when it loads, so import this module first.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
