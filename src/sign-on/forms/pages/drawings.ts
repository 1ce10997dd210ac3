const shape = (fill: string, path: string): string =>
  `<path fill="${fill}" stroke="#222" stroke-width="1.5" stroke-linejoin="round" d="${path}"/>`;

export const drawings = {
  sun: `<circle cx="24" cy="24" r="11" fill="#f5b800" stroke="#222" stroke-width="1.5"/>${shape("none", "M24 3v6M24 39v6M3 24h6M39 24h6M9 9l4 4M35 35l4 4M39 9l-4 4M13 35l-4 4")}`,
  house: shape("#d9653b", "M6 24L24 8l18 16h-5v17H11V24z") + shape("#fff", "M20 41V30h8v11z"),
  tree: shape("#8a5a2b", "M21 30h6v13h-6z") + shape("#3d9a50", "M24 4l14 16h-6l8 11H8l8-11h-6z"),
  fish: shape("#3b82c4", "M4 24c8-13 22-13 29 0l11-9v18l-11-9c-7 13-21 13-29 0z") + shape("#222", "M13 21h2v2h-2z"),
  star: shape("#f5b800", "M24 4l6 13 14 2-10 10 2 14-12-7-12 7 2-14L4 19l14-2z"),
  heart: shape("#d63a4e", "M24 42C6 29 4 20 8 13c4-6 13-5 16 2 3-7 12-8 16-2 4 7 2 16-16 29z"),
  boat: shape("#8a5a2b", "M5 31h38l-7 11H12z") + shape("#fff", "M23 6v22H9z") + shape("#d9653b", "M26 10v18h12z"),
  apple:
    shape("#c9302c", "M24 16c8-6 18 0 16 11-2 10-8 17-16 14-8 3-14-4-16-14C6 16 16 10 24 16z") +
    shape("#3d9a50", "M24 15c0-6 4-9 9-10 0 6-3 10-9 10z"),
  moon: shape("#e8d27a", "M30 5a20 20 0 1 0 13 29A17 17 0 0 1 30 5z"),
};
