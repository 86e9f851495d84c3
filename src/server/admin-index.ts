/** The index as the panel shows it: the current state with the last survey of the file. */
import type { IndexStatus, IndexSurvey, SurveyState } from '../types.ts';
import { describeStatus } from './status.ts';

export function describeIndex(state: IndexStatus, survey: SurveyState, now: number): object {
  const { latest, failure } = survey;
  return {
    status: describeStatus(state, now),
    survey: latest === null ? null : { ...latest, at: new Date(latest.at).toISOString() },
    surveyFailure: failure,
    forecast: latest === null ? null : forecast(state, latest),
  };
}

/**
 * How large the file will be when history is filled, and how long the disk lasts after that; null where unknown. Bytes
 * per transfer hardly change while a file grows, but transfers per block do: the missing blocks are assumed to be as
 * busy as the newest indexed ones. Counted from the block of the survey, at which the bytes were measured.
 */
function forecast({ startBlock, nodeHead }: IndexStatus, survey: IndexSurvey): object {
  const { fileBytes, freeBytes, growth, head, transfers } = survey;
  if (head === null || startBlock === null || transfers === 0)
    return { bytesPerDay: null, bytesWhenFilled: null, daysUntilFull: null };
  const bytesPerTransfer = fileBytes / transfers;
  const perBlock = growth?.transfersPerBlock ?? transfers / (head - startBlock + 1);
  const missing = Math.max(0, (nodeHead ?? head) - head) * perBlock * bytesPerTransfer;
  const bytesPerDay = growth === null ? null : Math.round(growth.transfersPerDay * bytesPerTransfer);
  return {
    bytesPerDay,
    bytesWhenFilled: Math.round(fileBytes + missing),
    daysUntilFull: bytesPerDay ? Math.max(0, Math.floor((freeBytes - missing) / bytesPerDay)) : null,
  };
}
