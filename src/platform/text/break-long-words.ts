/** Longer ones are no words; shorter ones cost little wherever they are wrapped. */
const longestWord = 300;
const longestLine = 200;
const pieceLength = 10;

/**
 * Puts line breaks into words of hundreds of letters. What wraps lines measures the rest of a word again for each of
 * its lines: a text of 60,000 letters without a space takes minutes.
 *
 * Units: `measure` returns those of `width`.
 */
export const breakLongWords = (text: string, width: number, measure: (text: string) => number): string =>
  text.replace(longWords, (word) => breakWord(word, width, measure));

// White space that does not allow a line break, such as U+00A0, is part of a word.
const longWords = new RegExp(`[^ \\t\\r\\n]{${longestWord + 1},}`, "g");

function breakWord(word: string, width: number, measure: (text: string) => number): string {
  const letters = Array.from(word);
  let [broken, lineWidth, lineLength] = ["", 0, 0];
  for (let at = 0; at < letters.length; at += pieceLength) {
    const piece = letters.slice(at, at + pieceLength).join("");
    const pieceWidth = measure(piece);
    // Letters without a width never fill a line.
    if (lineLength > 0 && (lineWidth + pieceWidth > width || lineLength >= longestLine)) {
      broken += "\n";
      [lineWidth, lineLength] = [0, 0];
    }
    broken += piece;
    lineWidth += pieceWidth;
    lineLength += pieceLength;
  }
  return broken;
}
