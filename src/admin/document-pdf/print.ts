// Runs in a thread.
import { drawDocument } from "./draw.ts";

export default drawDocument;
