/**
 * Most bytes of request headers. The library's default of 4 KiB is less than the cookies a browser sends to a host shared
 * with other services. The library reads the variable when it loads, so this module is imported first.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
