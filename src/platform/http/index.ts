/**
 * http: turns a contract into a router.
 *
 * Nouns:      document, operation, handler, answer (a record or a list read from the database), failure.
 * Invariants: every operation of a document has exactly one handler; the token is checked before anything else of a
 *             request; nothing invalid reaches a handler; an interrupted list never looks complete.
 * Never knows: schools, people, apps, or who may see what.
 */
export { makeAnswerCheck, type AnswerCheck } from "./answer-check.ts";
export {
  answerDone,
  answerList,
  answerMade,
  answerObject,
  answerRead,
  answerText,
  requested as asked,
  makeListQuery,
  makeObjectQuery,
  makeReadQuery,
} from "./answer.ts";
export type { JsonText, ListQuery, ObjectQuery, ReadQuery } from "./answer.ts";
export { makeCookiePrefixes } from "./cookie-prefixes.ts";
export { bindOperations, type RouterDeps } from "./bind-operations.ts";
export { listOperations, loadDocument, resolve } from "./document.ts";
export type { Answer, OpenApiDocument, Operation, Parameter, Schema } from "./document.ts";
export { startExport, type InTurn, mapInSlices, stringifyInSlices } from "./exports.ts";
export { listFields, makeFormCheck, type FormCheck } from "./form-check.ts";
export { fetchInside, innerOrigin, makeInnerCalls, type InnerFetch } from "./inner-calls.ts";
export { makeReading, withoutGates, type Reading } from "./reads.ts";
export { requestIdOf, makeProblemType, presentProblem, sendProblem } from "./failure.ts";
export type { RenderFailure, ProblemType } from "./failure.ts";
export type { ChangeAnswer, ChangeRequest, Handler, Handlers } from "./operation-types.ts";
export { callerOf, CallerLeft, leavingSignal, type Caller } from "../concurrency/caller.ts";
export { makeGate } from "../concurrency/gate.ts";
export { etagOf, isNotModified, rfc3339, timeHeaders, versionText } from "./send.ts";
export { TemporaryFile } from "../temporary-files.ts";
export { Upload } from "./upload.ts";
export { ParameterError } from "./validation.ts";
