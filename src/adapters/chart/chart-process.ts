// A process that draws one chart. It reads figures from its input and writes a PNG to its output.

import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { createCanvas, GlobalFonts, type SKRSContext2D } from "@napi-rs/canvas";
import {
  BarController,
  BarElement,
  CategoryScale,
  Chart,
  type ChartConfiguration,
  Legend,
  LinearScale,
  type Plugin,
} from "chart.js";
import type { ChartFigures } from "./draw-look-back.ts";

const FONT = "Lato";
/** Twice the size that a phone shows, so that the picture is sharp there too. */
const [WIDTH, HEIGHT, TEXT] = [1_200, 800, 34];
/** A light background, so that the picture looks the same in light and dark mode. */
const [GROUND, INK, GRID] = ["#ffffff", "#1d1c1d", "#dddddd"];
/** Colors from the palette by Okabe and Ito, which color-blind people can tell apart. They also differ in lightness. */
const SERIES = [
  { key: "approved", label: "Approved", fill: "#0072B2", ink: "#ffffff" },
  { key: "denied", label: "Denied", fill: "#E69F00", ink: "#000000" },
  { key: "expired", label: "Not decided in time", fill: "#BBBBBB", ink: "#000000" },
] as const;

function drawn(figures: ChartFigures): Buffer {
  const canvas = createCanvas(WIDTH, HEIGHT);
  // chart.js draws on any canvas with a 2D context, but its types know only the browser's.
  const chart = new Chart(canvas, configuration(figures, canvas.getContext("2d")));
  const picture = canvas.toBuffer("image/png");
  chart.destroy();
  return picture;
}

function configuration(
  figures: ChartFigures,
  pen: SKRSContext2D,
): ChartConfiguration<"bar", number[], string> {
  const font = { family: FONT, size: TEXT };
  const ticks = { font, color: INK };
  return {
    type: "bar",
    data: {
      labels: figures.map(({ label }) => label),
      datasets: SERIES.map(({ key, label, fill }) => ({
        label,
        data: figures.map((day) => day[key]),
        backgroundColor: fill,
        borderColor: GROUND,
        borderWidth: 2,
      })),
    },
    options: {
      responsive: false,
      animation: false,
      devicePixelRatio: 1,
      layout: { padding: TEXT },
      plugins: { legend: { labels: { ...ticks, padding: TEXT } } },
      scales: {
        x: { stacked: true, ticks, grid: { display: false } },
        y: { stacked: true, beginAtZero: true, ticks: { ...ticks, precision: 0 }, grid: { color: GRID } },
      },
    },
    plugins: [groundWith(pen), numbersWith(pen)],
  };
}

const groundWith = (pen: SKRSContext2D): Plugin<"bar"> => ({
  id: "ground",
  beforeDraw() {
    pen.fillStyle = GROUND;
    pen.fillRect(0, 0, WIDTH, HEIGHT);
  },
});

/** Writes each number into its bar if there is room. */
const numbersWith = (pen: SKRSContext2D): Plugin<"bar"> => ({
  id: "numbers",
  afterDatasetsDraw(chart) {
    pen.font = `${TEXT}px ${FONT}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (const [at, { ink }] of SERIES.entries()) {
      pen.fillStyle = ink;
      for (const [index, bar] of chart.getDatasetMeta(at).data.entries()) {
        const value = chart.data.datasets[at]?.data[index];
        const { x, y, base } = bar.getProps(["x", "y", "base"], true) as {
          x: number;
          y: number;
          base: number;
        };
        if (typeof value === "number" && value > 0 && base - y > TEXT)
          pen.fillText(String(value), x, (y + base) / 2);
      }
    }
  },
});

Chart.register(BarController, BarElement, CategoryScale, LinearScale, Legend);
// The font is a copy of a file of @fontsource/lato, so that a machine without fonts can draw too.
GlobalFonts.registerFromPath(fileURLToPath(new URL("lato.woff2", import.meta.url)), FONT);
process.stdout.write(drawn(JSON.parse(await text(process.stdin)) as ChartFigures));
