import {
  type DocumentedContent,
  type DocumentedField,
  type DocumentedOperation,
  type DocumentedResponse,
  fieldsOf,
  notesOf,
  type Specification,
  typeOf,
} from './specification.ts'

interface Route {
  readonly method: string
  readonly path: string
  readonly operation: DocumentedOperation
}

/**
 * Renders an OpenAPI document as an HTML page: the routes by tag, with their parameters, bodies and responses.
 * Its links are relative, so the page works under any path prefix.
 */
export const documentationPage = (specification: Specification): string => {
  const { title, description = '' } = specification.info
  const groups = groupsOf(specification)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${text(title)} API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="./openapi/style.css">
</head>
<body>
<header>
<h1>${text(title)} API</h1>
<p>${text(description)}</p>
<p>Send your API token as <code>Authorization: Bearer sk-…</code> or <code>x-api-key: sk-…</code>, unless a route says otherwise.
The same documentation is available <a href="./openapi/json">as OpenAPI</a>.</p>
</header>
<nav aria-label="Routes">
${groups.map(([tag, routes]) => `<h2>${text(tag)}</h2>\n<ul>\n${routes.map(linkTo).join('\n')}\n</ul>`).join('\n')}
</nav>
<main>
${groups.map(([tag, routes]) => `<h2>${text(tag)}</h2>\n${routes.map(sectionOf).join('\n')}`).join('\n')}
</main>
</body>
</html>
`
}

const methods: readonly string[] = ['get', 'post', 'put', 'patch', 'delete']

/** Routes by their first tag, in the order of the specification. Routes without a tag come last. */
const groupsOf = ({ paths }: Specification): readonly (readonly [string, readonly Route[]])[] => {
  const groups = new Map<string, Route[]>()
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of methods) {
      const operation = operations[method]
      if (!operation) continue
      const tag = operation.tags?.[0] ?? 'other'
      groups.set(tag, [...(groups.get(tag) ?? []), { method, path, operation }])
    }
  }
  return [...groups].sort(([a], [b]) => Number(a === 'other') - Number(b === 'other'))
}

const idOf = ({ method, path }: Route): string => `${method}${path.replace(/[^\w]+/g, '-')}`

const linkTo = (route: Route): string =>
  `<li><a href="#${idOf(route)}">${method(route)} <code>${text(route.path)}</code></a></li>`

const method = (route: Route): string => `<b>${route.method.toUpperCase()}</b>`

const sectionOf = (route: Route): string => {
  const { summary, description, parameters = [], requestBody, responses = {} } = route.operation
  const rows = parameters.map(({ name, required = false, schema, ...parameter }) => ({
    ...{ name, required, type: typeOf(schema) },
    notes: [`in the ${parameter.in}`, parameter.description ?? notesOf(schema)].filter(Boolean).join('; '),
  }))
  const { successes = [], errors = [] } = Object.groupBy(Object.entries(responses), ([status]) =>
    status.startsWith('2') ? 'successes' : 'errors',
  )
  return [
    `<section id="${idOf(route)}" aria-labelledby="${idOf(route)}-name">`,
    `<h3 id="${idOf(route)}-name">${method(route)} <code>${text(route.path)}</code></h3>`,
    summary && `<p>${text(summary)}.</p>`,
    description && `<p>${text(description)}</p>`,
    tableOf('Parameters', rows),
    requestBody && contentOf('Body', requestBody),
    ...successes.map(([status, response]) => contentOf(`Response ${status}: ${response.description ?? ''}`, response)),
    listOf('Errors', errors),
    '</section>',
  ]
    .filter(Boolean)
    .join('\n')
}

const contentOf = (caption: string, { content = {} }: DocumentedContent): string =>
  Object.entries(content)
    .map(([type, { schema }]) => {
      const fields = schema ? fieldsOf(schema) : []
      return fields.length > 0 ? tableOf(caption, fields) : `<p>${text(caption)} (<code>${text(type)}</code>)</p>`
    })
    .join('\n') || `<p>${text(caption)}</p>`

const listOf = (caption: string, responses: readonly (readonly [string, DocumentedResponse])[]): string => {
  if (responses.length === 0) return ''
  const items = responses.map(([status, { description = '', headers = {} }]) => {
    const names = Object.keys(headers).map((name) => `<code>${text(name)}</code>`)
    const suffix = names.length > 0 ? `, with ${names.join(', ')}` : ''
    return `<dt><code>${text(status)}</code></dt><dd>${text(description)}${suffix}</dd>`
  })
  return `<p>${text(caption)}</p>\n<dl>\n${items.join('\n')}\n</dl>`
}

const tableOf = (caption: string, fields: readonly DocumentedField[]): string => {
  if (fields.length === 0) return ''
  const rows = fields.map(
    ({ name, type, required, notes }) =>
      `<tr><th scope="row"><code>${text(name)}</code></th><td>${text(type)}</td><td>${required ? 'required' : ''}</td><td>${text(notes)}</td></tr>`,
  )
  return `<div role="region" tabindex="0" aria-label="${text(caption)}">
<table>
<caption>${text(caption)}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Required</th><th scope="col">Notes</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</div>`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for an element or a quoted attribute. */
const text = (value: string): string => value.replace(/[&<>"']/g, (mark) => entities[mark] ?? mark)
