// Puts the page together.

function theme() {
  const root = document.documentElement;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const show = name => {
    root.dataset.theme = name;
    if (totals.attempts > 0 && strips.slots) drawNow();
  };
  const wanted = () => chosen ?? (dark.matches ? 'dark' : 'light');
  root.dataset.theme = wanted();
  dark.addEventListener('change', () => show(wanted()));
  byId('theme').addEventListener('click', () => {
    chosen = wanted() === 'dark' ? 'light' : 'dark';
    show(chosen);
  });
  // Paper is light, and shows everything.
  addEventListener('beforeprint', () => {
    document.querySelectorAll('details').forEach(details => { details.open = true; });
    show('light');
  });
  addEventListener('afterprint', () => show(wanted()));
}

theme();
summary();
tables();
learning();
byId('graph').hidden = byId('graph-picture').childElementCount === 0;
timeline();
document.body.dataset.ready = 'true';
performance.mark('throng-drawn');
