// A link to a kernel opens its fold.
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
};
window.addEventListener("hashchange", openTarget);
openTarget();
