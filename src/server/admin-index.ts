/** The index as the panel shows it: the state of now with the last survey of the file. */
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

/** How large the file will be when history is filled in, and how long the disk lasts after that. Null where nothing can be told. */
function forecast({ startBlock, head, nodeHead }: IndexStatus, survey: IndexSurvey): object {
  const { fileBytes, freeBytes, growth } = survey;
  const done = head === null || startBlock === null ? 0 : head.number - startBlock + 1;
  const missing = head === null || nodeHead === null ? 0 : Math.max(0, nodeHead - head.number);
  const bytesWhenFilled = done === 0 ? null : Math.round(fileBytes * (1 + missing / done));
  const freeThen = bytesWhenFilled === null ? null : freeBytes - (bytesWhenFilled - fileBytes);
  const bytesPerDay = growth === null ? null : Math.round(growth.bytesPerDay);
  const days = freeThen === null || bytesPerDay === null || bytesPerDay === 0 ? null : freeThen / bytesPerDay;
  return {
    bytesPerDay,
    bytesWhenFilled,
    daysUntilFull: days === null ? null : Math.max(0, Math.floor(days)),
  };
}
