import './styles';
import '@/app/global.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from '@/app/App';
import { startLanguage } from '@/lib/i18n';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no #root');

await startLanguage();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
