/** One field of a request and the rule that it breaks. */
export interface FieldProblem {
  field: string;
  /** The rule in English. */
  message: string;
  /** Which rule, and what it is said with; absent for one that the server has no code for. */
  code?: string;
  params?: Record<string, string>;
}

/** The body of an error answer (RFC 9457 problem+json). */
export interface Problem {
  status: number;
  code: string;
  title?: string;
  detail?: string;
  /** Which sentence the detail is, and what it is said with. */
  rule?: string;
  params?: Record<string, string>;
  request_id?: string;
  errors?: FieldProblem[] | null;
  /** The present record, in the answer to a write that was based on an older one. */
  current?: unknown;
  /** What is missing, where an answer refuses it. */
  permission?: string;
  /** Of a bulk edit: every bucket that stands in its way. */
  buckets?: BucketFault[] | null;
}

/** Why a bucket stands in the way of a bulk edit. */
export interface BucketFault {
  name: string;
  code: string;
  message: string;
  /** With code stale: the present one. */
  revision?: number;
  /** With code invalid: the rules that it would break. */
  errors?: FieldProblem[] | null;
}

/** An answer of the server that refuses or fails. */
export class ApiError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title ?? problem.code);
    this.name = 'ApiError';
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code;
  }

  get fields(): FieldProblem[] {
    return this.problem.errors ?? [];
  }
}

/** The server could not be reached at all. */
export class ConnectionError extends Error {
  constructor(cause: unknown) {
    super('the server cannot be reached', { cause });
    this.name = 'ConnectionError';
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}

/** Makes an ApiError of whatever an error answer carried; a proxy may have answered something that is no problem+json. */
export function toApiError(body: unknown, status: number): ApiError {
  const given = typeof body === 'object' && body !== null ? (body as Partial<Problem>) : {};
  return new ApiError({ ...given, status, code: given.code ?? codeOfStatus(status) });
}

function codeOfStatus(status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 404) return 'not_found';
  if (status === 429) return 'too_many';
  return status >= 502 && status <= 504 ? 'unavailable' : 'internal';
}
