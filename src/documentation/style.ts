/**
 * Style sheet with the colours of the console. Each pair of text and background has a contrast of at least 4.5:1 (WCAG
 * 2.2, 1.4.3).
 */
export const style = `:root {
  color-scheme: light dark;
  --ground: #f5f6f8;
  --surface: #fff;
  --text: #171a21;
  --quiet: #555d6e;
  --line: #dfe2e8;
  --accent: #2450c8;
}

@media (prefers-color-scheme: dark) {
  :root {
    --ground: #101216;
    --surface: #181b21;
    --text: #e9ebf0;
    --quiet: #a2aab9;
    --line: #2b3039;
    --accent: #9db8ff;
  }
}

* {
  box-sizing: border-box;
}

body {
  max-width: 60rem;
  margin: 0 auto;
  padding: 1.5rem;
  background: var(--ground);
  color: var(--text);
  font: 1rem / 1.5 system-ui, sans-serif;
}

a {
  color: var(--accent);
}

a:focus-visible,
div:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
}

code {
  font: 0.9em ui-monospace, monospace;
  overflow-wrap: anywhere;
}

h2 {
  margin: 2rem 0 0.5rem;
}

h2::first-letter {
  text-transform: uppercase;
}

nav h2 {
  margin: 1rem 0 0.25rem;
  font-size: 1rem;
}

nav ul {
  margin: 0;
  padding: 0;
  list-style: none;
}

nav a {
  display: block;
  padding: 0.2rem 0;
}

section {
  margin: 1rem 0;
  padding: 1rem;
  border: 1px solid var(--line);
  border-radius: 12px;
  background: var(--surface);
}

h3 {
  margin: 0;
  font-size: 1rem;
  font-weight: normal;
}

div {
  overflow-x: auto;
}

table {
  width: 100%;
  margin: 0.75rem 0 0;
  border-collapse: collapse;
  font-size: 0.9rem;
}

caption {
  padding: 0.25rem 0;
  text-align: left;
  font-weight: bold;
}

th,
td {
  padding: 0.3rem 0.75rem 0.3rem 0;
  border-top: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
  font-weight: normal;
}

thead th {
  color: var(--quiet);
}
`
