/**
 * How many bytes of headers a request may have. The library's own 4 KiB are less than the cookies that a browser sends
 * along to a host which other services share. It reads the variable when it is loaded, so this is imported before it.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
