import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The server replaces this mark in index.html by a fresh nonce at each request (embed.go holds the same word).
const nonceMark = '__CSP_NONCE__';

const server = process.env.HEADGATE_URL ?? 'http://127.0.0.1:8080';

export default defineConfig(({ command }) => ({
  plugins: [react()],
  // The development server sends no Content-Security-Policy, so it needs no nonce.
  html: command === 'build' ? { cspNonce: nonceMark } : {},
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  build: {
    assetsInlineLimit: 0, // font-src and img-src allow 'self' only
    target: 'es2022',
    // These know light-dark(); for older ones Vite would write a substitute that does not see Mantine's scheme.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    manifest: 'manifest.json',
    // What every page needs comes in one piece: gzip packs it by a tenth better than its fifty parts.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } } },
  },
  server: { proxy: { '/api': server, '/healthz': server } },
  test: {
    include: ['src/**/*.test.{ts,tsx}'],
    restoreMocks: true,
  },
}));
