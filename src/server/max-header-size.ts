/**
 * How many bytes of headers a request may have. The library's default of 4 KiB is less than the cookies that a browser
 * sends to a host shared with other services. It reads the variable on loading, so this is imported before it.
 */
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
