/** The process for the queries of the command, which starts as this module loads. */
import { QueryProcess } from '../../sql/process/query-process.ts';

export const queries = new QueryProcess();
