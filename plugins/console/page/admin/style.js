/**
 * The styles of the operators' screens. They come with these screens, so that nobody else loads them.
 *
 * A sheet that a script constructs is no inline style, so the policy of the page allows it.
 */
const sheet = new CSSStyleSheet()
sheet.replaceSync(`
  main.admin { max-width: 82rem; }
  main.admin > [role="status"]:first-child + .tabs { margin-top: 0; margin-bottom: 1.5rem; }
  .admin .filters input { height: 2.5rem; }
  .two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); gap: 1rem; }
  .admin h3 { margin: 0; font-size: 0.9375rem; font-weight: 600; }
  .admin section > .heading { align-items: center; }
  .admin section > .heading + .rows { margin-top: 0.75rem; }
  .admin .filters .field, .admin .filters .field:first-child:has(select) { flex: 1 1 10rem; max-width: 16rem; }
  .admin .filters .field:first-child { flex-basis: 14rem; }
  @media (max-width: 40rem) { .admin .filters .field, .admin .filters .field:first-child:has(select) { max-width: none; } }

  .admin .dense table { border-collapse: separate; border-spacing: 0; font-size: 0.875rem; }
  .admin .dense tbody > tr, .admin .dense tfoot > tr { border: 0; }
  .admin .dense :is(tbody, tfoot) :is(th, td) { border-top: 1px solid var(--border); }
  .admin .dense th, .admin .dense td { padding: 0.5rem 0.875rem; min-width: 0; max-width: none; white-space: nowrap; vertical-align: middle; }
  .admin .dense td.wrap { white-space: normal; min-width: 12rem; }
  .admin .dense :is(th, td):first-child { max-width: 18rem; overflow: hidden; text-overflow: ellipsis; background: var(--surface); }
  @media (min-width: 40rem) {
    .admin .dense { scroll-padding-left: 18rem; }
    .admin .dense :is(th, td):first-child { position: sticky; left: 0; z-index: 1; }
  }
  .admin .dense tbody tr:hover > * { background: var(--background-muted); }
  .admin .dense[aria-busy="true"] table { opacity: 0.6; }
  .admin .badges { display: inline-flex; flex-wrap: wrap; gap: 0.375rem; }
  .admin .pages { display: flex; align-items: center; gap: 0.75rem; margin-top: 0.75rem; color: var(--text-muted); font-size: 0.875rem; }
  .admin .pages button { min-height: 2.25rem; }

  .admin .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); gap: 0.875rem 1.5rem; margin-top: 1.25rem; padding: 1rem 1.25rem; border: 1px solid var(--border); border-radius: var(--radius); background: var(--surface); box-shadow: var(--shadow); }
  .admin .facts dt { color: var(--text-muted); font-size: 0.8125rem; }
  .admin .facts dd { overflow-wrap: anywhere; }
  .admin .sections-of-user { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }

  .fault { color: var(--bad); font-size: 0.875rem; }
  .field :is([aria-invalid="true"]) { border-color: var(--bad); }
  .typed { padding: 0.0625rem 0.375rem; border-radius: 4px; background: var(--background-muted); overflow-wrap: anywhere; user-select: all; }
  dialog.wide:has(.fault-form) { width: min(44rem, calc(100vw - 2rem)); }

  fieldset.limits { min-width: 0; margin: 0; padding: 0; border: 0; }
  fieldset.limits > legend { padding: 0; margin-bottom: 0.375rem; font-size: 0.875rem; font-weight: 550; }
  .options { display: grid; gap: 0.375rem; }
  .options .check { display: flex; gap: 0.5rem; align-items: baseline; font-weight: 400; }
  .options input { flex: none; width: 1rem; min-height: 1rem; height: 1rem; margin: 0; translate: 0 0.125rem; }
  fieldset.limits > .hint { margin-top: 0.5rem; }
  .limit { margin-top: 0.75rem; padding: 0.75rem 1rem 0.875rem; border: 1px solid var(--border); border-radius: var(--radius-small); background: var(--background); }
  .limit-head { display: flex; align-items: center; justify-content: space-between; }
  .limit-fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 8.5rem), 1fr)); gap: 0.75rem; margin: 0.25rem 0 0.5rem; }
  fieldset.limits > .add { margin-top: 0.75rem; }
  .limit-list { display: flex; flex-wrap: wrap; gap: 0.25rem 0.5rem; }
  .limit-list li { padding: 0.0625rem 0.5rem; border: 1px solid var(--border); border-radius: 999px; background: var(--surface); }

  .bad { color: var(--bad); }
  .calm, p.bad { display: flex; align-items: center; gap: 0.5rem; margin-top: 0.75rem; }
  .calm { color: var(--good); }
  .admin section > .hint { margin-top: 0.5rem; }
  .admin section > h2 { margin-bottom: 0.25rem; }
  .alerts { display: grid; gap: 0.5rem; margin-top: 0.75rem; }
  .alerts > li { display: flex; gap: 0.75rem; padding: 0.75rem 1rem; border: 1px solid var(--border); border-left: 4px solid var(--border-strong); border-radius: var(--radius-small); background: var(--surface); }
  .alerts > li.critical { border-left-color: var(--bad); }
  .alerts > li.critical > .icon { color: var(--bad); }
  .alerts > li.warning { border-left-color: var(--warn); }
  .alerts > li.warning > .icon { color: var(--warn); }
  .rows > li.stacked { display: block; }
  .stacked .scroll { margin: 0.75rem 0 0; box-shadow: none; }
  .example { padding: 0.5rem 0.75rem; border-radius: var(--radius-small); background: var(--background-muted); white-space: pre; overflow-x: auto; }
  dialog input[type="file"] { padding: 0.375rem 0.5rem; }
  .problems { margin: 0.5rem 0; padding-left: 1.25rem; list-style: disc; }

  .find-consent { max-width: 32rem; margin-top: 1.25rem; }
  .find-consent .actions { margin-top: 0.5rem; justify-content: start; }
  .find-consent + .filters { margin-top: 1.5rem; }

  .by { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 1.5rem 0 0; padding: 0; border: 0; font-size: 0.875rem; }
  .by legend { float: left; margin-right: 1.25rem; padding: 0; font-weight: 550; }
  .by .check { display: inline-flex; align-items: center; gap: 0.375rem; font-weight: 400; }
  .by input { width: 1rem; min-height: 1rem; height: 1rem; margin: 0; }
  .by + .scroll { margin-top: 0.75rem; }
  main.admin .figures { grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); }
  .admin td pre { margin: 0; max-height: 12rem; overflow: auto; font-size: 0.8125rem; white-space: pre-wrap; }
`)
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
