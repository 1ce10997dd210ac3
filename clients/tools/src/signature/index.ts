export { eventFaults, explainSignature, signatureFaults, type ReceivedEvent } from "./explain.ts";
export { reportSignature } from "./report.ts";
export { signatureFaultTexts } from "./texts.ts";
