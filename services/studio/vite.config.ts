import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.STAUNCH_SERVER ?? "http://127.0.0.1:5001";
const proxied = Object.fromEntries(
  ["/elsa", "/health", "/openapi.json", "/metrics"].map((path) => [
    path,
    { target: server, changeOrigin: true, headers: { Origin: server } },
  ]),
);

/** Chunks have names without hashes, so that a new build changes only what is new. */
export default defineConfig({
  base: "./",
  plugins: [react(), tailwind()],
  server: { proxy: proxied },
  preview: { proxy: proxied },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    // One file of styles: a part that is loaded again would come without styles that failed before.
    cssCodeSplit: false,
    chunkSizeWarningLimit: 600,
    rolldownOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
        codeSplitting: {
          // A group takes what its modules need, unless a group of more weight has it.
          groups: [
            {
              name: "vendor",
              test: /node_modules[\\/](react|react-dom|scheduler|@tanstack|use-sync-external-store)[\\/]/,
              priority: 5,
            },
            {
              name: "graph-vendor",
              test: /node_modules[\\/](@xyflow|@dagrejs|d3-|classcat|zustand)/,
              priority: 4,
            },
            {
              name: "code-vendor",
              // The language YAML loads by itself: few editors need it.
              test: /node_modules[\\/](?!@codemirror[\\/]lang-yaml|@lezer[\\/]yaml)(@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)/,
              priority: 4,
            },
            { name: "common", test: /src[\\/](ui|app|api|lib|text)[\\/]/, priority: 2 },
            {
              name: "designer",
              test: /src[\\/](pages[\\/]designer[\\/](?!code|drawer[\\/]TextTab)|model[\\/])/,
              priority: 1,
            },
          ],
        },
      },
    },
  },
  test: { include: ["src/**/*.test.ts"], environment: "node", testTimeout: 60_000 },
});
