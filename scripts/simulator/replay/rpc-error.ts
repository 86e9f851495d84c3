/** The error of a call that has no result. The codes and texts are those of Monad's RPC server. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function invalidParams(message = 'Invalid params'): RpcError {
  return new RpcError(-32602, message);
}

export function methodNotFound(): RpcError {
  return new RpcError(-32601, 'Method not found');
}

/** The method is known, but this node lacks the data for it. */
export function methodNotSupported(): RpcError {
  return new RpcError(-32601, 'Method not supported');
}

export function blockNotFound(): RpcError {
  return invalidParams(
    'Block requested not found. Request might be querying historical state that is not available. ' +
      'If possible, reformulate query to point to more recent blocks',
  );
}

export function responseTooLarge(): RpcError {
  return new RpcError(-32603, 'response size limit exceeded');
}

export function overloaded(): RpcError {
  return new RpcError(-32603, 'overloaded, try again later');
}
