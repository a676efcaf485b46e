import { paths } from '../api/paths.js'

/**
 * How a program uses an asset: a chat about it, or a video of it, where the server makes videos.
 * @param {import('./asset.js').Asset} asset
 * @returns {readonly (readonly [name: string, code: string])[]}
 */
export const codeOf = (asset) => {
  const address =
    location.origin + (paths.video ? `${paths.video}/contents/generations/tasks` : `${paths.text}/chat/completions`)
  const body = paths.video ? videoBody(asset) : chatBody(asset)
  const json = JSON.stringify(body, undefined, 2)
  return [
    [
      'curl',
      [
        `curl ${quoted(address)} \\`,
        '  -H "Authorization: Bearer $SLUICE_TOKEN" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d ${quoted(json)}`,
      ].join('\n'),
    ],
    [
      'Python',
      [
        'import json, os, urllib.request',
        '',
        `body = json.loads('''${json}''')`,
        'request = urllib.request.Request(',
        `    ${JSON.stringify(address)},`,
        '    data=json.dumps(body).encode(),',
        '    headers={',
        '        "Authorization": "Bearer " + os.environ["SLUICE_TOKEN"],',
        '        "Content-Type": "application/json",',
        '    },',
        ')',
        'print(urllib.request.urlopen(request).read().decode())',
      ].join('\n'),
    ],
    [
      'JavaScript',
      [
        `const response = await fetch(${JSON.stringify(address)}, {`,
        "  method: 'POST',",
        '  headers: {',
        "    authorization: 'Bearer ' + process.env.SLUICE_TOKEN,",
        "    'content-type': 'application/json',",
        '  },',
        `  body: JSON.stringify(${indented(json)}),`,
        '})',
        'console.log(await response.json())',
      ].join('\n'),
    ],
  ]
}

/** @param {import('./asset.js').Asset} asset */
const itemOf = ({ Id, AssetType }) => {
  const name = `${AssetType.toLowerCase()}_url`
  return { type: name, [name]: { url: `asset://${Id}` } }
}

/** @param {import('./asset.js').Asset} asset */
const videoBody = (asset) => ({
  model: 'doubao-seedance-2-0-260128',
  content: [
    { type: 'text', text: 'Slow waves, evening light.' },
    { ...itemOf(asset), role: `reference_${asset.AssetType.toLowerCase()}` },
  ],
})

/** @param {import('./asset.js').Asset} asset */
const chatBody = (asset) => ({
  model: 'MODEL',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is shown here?' }, itemOf(asset)] }],
})

/** For a shell (POSIX, section 2.2.2). @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

/** @param {string} text */
const indented = (text) => text.replaceAll('\n', '\n  ')
