/** The database cannot be used, and a person has to act: the message says what is wrong and what to do, on its own. */
export class DatabaseStartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "DatabaseStartError";
  }
}
