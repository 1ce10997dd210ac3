/** How far an import is. Units: bytes while reading (each file is read twice), schools while comparing and applying. */
export type Progress = { phase: "reading" | "checking" | "comparing" | "applying"; done: number; total: number };

export type OnProgress = (progress: Progress) => void;
