"""Well-known formulas and their names: a table, one line each.

A form is written with columns x, y, z and w and with constants of other letters, which are free. Whole numbers are part
of the form, and so are the exponents that are numbers. A constant is positive unless `any_sign` names it: with another
sign, a law is another law. Of two with the same form, the one that leaves fewer signs open is taken where it fits.
"""

from dataclasses import dataclass

COLUMNS = ("x", "y", "z", "w")


@dataclass(frozen=True)
class Form:
    """`name` is what it is called in the field where it is best known, `also` what others call it; `texts` are ways to
    write it of which none can be turned into another without a look at the values of its constants."""

    name: str
    texts: tuple[str, ...]
    also: tuple[str, ...] = ()
    any_sign: str = ""

    def __str__(self) -> str:
        return f"{self.name}; also {', '.join(self.also)}" if self.also else self.name


def _form(text: str, name: str, *also: str, any_sign: str = "") -> Form:
    return Form(name, tuple(text.split(" | ")), also, any_sign)


FORMS = (
    # Lines and powers.
    _form("a*x", "proportionality", "Hooke's law", "Ohm's law", "Hubble's law", any_sign="a"),
    _form("a + b*x", "a straight line", any_sign="ab"),
    _form("a/x", "inverse proportion", "Boyle's law", any_sign="a"),
    _form("a*x**2", "a square law", "Joule's heat", "free fall"),
    _form("a/x**2", "an inverse-square law"),
    _form("a*x**(3/2)", "Kepler's third law"),
    _form("a*sqrt(x)", "a square-root law", "the period of a pendulum", "Torricelli's law"),
    _form("a*x**4", "Stefan-Boltzmann's law"),
    _form("a*x**n", "a power law", "Freundlich's isotherm", "allometry"),
    _form("a*x**(-n)", "an inverse power law"),
    _form("a + b*x**n", "a power law on an offset", any_sign="abn"),
    _form("b*x**n + a", "Herschel-Bulkley's fluid", "a power law on an offset"),
    _form("b*x**(-n) - a", "Phillips's curve", "an inverse power law on an offset"),
    _form("a + b/sqrt(x)", "Hall-Petch's strength of grains"),
    _form("a + b/x**2", "Cauchy's dispersion"),
    _form("a + b*log(x)", "a logarithmic law", "Nernst's potential", "Weber-Fechner's law", "Tafel's law",
          any_sign="ab"),
    # Growth and decay.
    _form("a*exp(b*x)", "exponential growth"),
    _form("a*exp(-b*x)", "exponential decay", "Beer-Lambert's law", "radioactive decay", "the barometric formula"),
    _form("a + b*exp(-c*x)", "relaxation to a limit", "Newton's law of cooling", "von Bertalanffy's length",
          any_sign="ab"),
    _form("a*(1 - exp(-b*x))", "saturating growth", "charging of a capacitor", any_sign="a"),
    _form("a*exp(-b*x) + c*exp(-d*x)", "decay with two rates"),
    _form("a*(exp(-b*x) - exp(-c*x))", "Bateman's function"),
    _form("a/(b + x)", "hyperbolic decay", "Stern-Volmer's quenching", "second-order kinetics"),
    _form("a/(1 + b*exp(-c*x))", "logistic growth", "Verhulst's growth"),
    _form("a*exp(-b*exp(-c*x))", "Gompertz's growth"),
    _form("a*(1 + b*exp(-c*x))**(-n)", "Richards's growth"),
    _form("a*(1 - b*exp(-c*x))**3", "von Bertalanffy's weight"),
    _form("a*exp(-b*x**n)", "Kohlrausch's stretched exponential"),
    # Saturation.
    _form("a*x/(b + x) | a/(1 + b/x)", "Michaelis-Menten's rate of an enzyme", "Langmuir's isotherm",
          "Monod's growth", "Holling's type II response"),
    _form("a*x/(b + x) + c | a/(1 + b/x) + c", "Michaelis-Menten's rate on a background",
          "a saturating curve on an offset"),
    _form("a*x/(b + x) - c | a/(1 + b/x) - c", "Michaelis-Menten's rate less a constant",
          "Monod's growth less maintenance"),
    _form("a*x/(b + x + c*x**2)", "Haldane's inhibition by the substrate"),
    _form("a*x**2/(b + x**2) | a/(1 + b/x**2)", "Hill's equation with exponent 2", "Holling's type III response"),
    _form("a*x**n/(b + x**n) | a/(1 + b*x**(-n))", "Hill's equation"),
    _form("a/(1 + b*x**n)", "Hill's inhibition"),
    _form("d + a/(1 + b*x**n) | d + a*x**n/(b + x**n)", "the four-parameter logistic curve", any_sign="adn"),
    _form("a*x/((1 - x)*(1 + b*x))", "the BET isotherm"),
    _form("a*x/(b + x + c*y)", "competitive inhibition of an enzyme", "Langmuir's isotherm of two gases"),
    _form("-a*sqrt(x)/(1 + b*sqrt(x))", "Debye-Hueckel's law"),
    _form("-a*sqrt(x)/(1 + b*y*sqrt(x))", "Debye-Hueckel's law"),
    _form("a*(1 - 2/(1 + exp(b*x)))", "Jassby-Platt's photosynthesis", "a hyperbolic tangent"),
    _form("a*x*exp(-b*x)", "Ricker's recruitment", "Steele's photosynthesis"),
    # Temperature.
    _form("a*exp(-b/x)", "Arrhenius's law", "Clausius-Clapeyron's vapour pressure"),
    _form("a*x*exp(-b/x)", "Eyring's rate"),
    _form("a*x**n*exp(-b/x) | a*exp(-b/x)/x | a*exp(-b/x)/sqrt(x) | a*sqrt(x)*exp(-b/x)",
          "Arrhenius's law with a power of the temperature", "Kirchhoff's vapour pressure", any_sign="n"),
    _form("a*x**2*exp(-b/x)", "Richardson's law"),
    _form("a*exp(-b/(x + c))", "Antoine's vapour pressure", any_sign="c"),
    _form("a*exp(b/(x + c))", "Vogel-Fulcher-Tammann's viscosity", any_sign="c"),
    _form("1/(a + b*log(x) + c*log(x)**3)", "Steinhart-Hart's thermistor"),
    _form("a*x**(3/2)/(x + b)", "Sutherland's viscosity"),
    _form("a*exp(b/x)/(x**2*(exp(b/x) - 1)**2)", "Einstein's heat capacity"),
    _form("a*(x**4 - y**4)", "net radiation by Stefan-Boltzmann's law"),
    _form("a*(1 - b*x)**n", "the barometric formula with a temperature that falls"),
    _form("a*exp(-b*x/y)", "Boltzmann's factor", "the barometric formula"),
    # Peaks and densities.
    _form("a*exp(-b*(x - c)**2) | a*exp(c*x - b*x**2)", "a Gaussian peak", "the normal density", any_sign="ac"),
    _form("a*exp(-b*x**2)", "a Gaussian peak around 0", "the normal density", any_sign="a"),
    _form("d + a*exp(-b*(x - c)**2) | d + a*exp(c*x - b*x**2)", "a Gaussian peak on an offset", any_sign="acd"),
    _form("a/(b + (x - c)**2)", "a Lorentzian peak", "Cauchy's density", any_sign="ac"),
    _form("a/(b + x**2)", "a Lorentzian peak around 0", "Agnesi's curve", any_sign="a"),
    _form("d + a/(b + (x - c)**2)", "a Lorentzian peak on an offset", any_sign="acd"),
    _form("a*exp(-b*(log(x) - c)**2)/x", "the log-normal density", any_sign="c"),
    _form("1 - exp(-a*x**n)", "Weibull's distribution", "Avrami's equation"),
    _form("a*x**n*exp(-b*x)", "the gamma density", any_sign="n"),
    _form("a*x*exp(-b*x**2)", "Rayleigh's density"),
    _form("a*x**2*exp(-b*x**2)", "Maxwell-Boltzmann's speeds"),
    _form("a*x**m*exp(-b*x**n)", "the generalised gamma density", "Weibull's density", any_sign="m"),
    # Radiation and atoms.
    _form("a*x**3/(exp(b*x) - 1)", "Planck's law"),
    _form("a/(x**5*(exp(b/x) - 1))", "Planck's law by wavelength"),
    _form("a*x**3/(exp(b*x/y) - 1)", "Planck's law by frequency and temperature"),
    _form("a/(x**5*(exp(b/(x*y)) - 1))", "Planck's law by wavelength and temperature"),
    _form("a*x**2/(x**2 - b) | 1/(a - b/x**2)", "Balmer's series"),
    _form("a*(1 - b*exp(-c*x))**2", "Morse's potential"),
    _form("a/x**12 - b/x**6", "Lennard-Jones's potential"),
    _form("a*exp(-b*x) - c/x**6", "Buckingham's potential"),
    _form("a*exp(-b*x)/x", "Yukawa's potential", "screened Coulomb's potential", any_sign="a"),
    _form("1/(exp((x - a)/(b*y)) + 1)", "Fermi-Dirac's distribution", any_sign="a"),
    _form("x/(1 + a*x*(1 - cos(y)))", "Compton's scattering"),
    _form("a/sqrt(1 - b*x**2)", "Lorentz's factor"),
    _form("a*x/sqrt(1 - b*y**2)", "relativistic mass"),
    _form("x*sqrt((a + y)/(a - y))", "the relativistic Doppler effect"),
    # Waves, light and circuits.
    _form("a*sin(b*x + c) | a*cos(b*x + c) | a*sin(b*x) | a*cos(b*x)", "a harmonic oscillation", any_sign="abc"),
    _form("d + a*sin(b*x + c) | d + a*cos(b*x + c) | d + a*sin(b*x) | d + a*cos(b*x)",
          "a harmonic oscillation on an offset", any_sign="abcd"),
    _form("a*exp(-b*x)*sin(c*x + d) | a*exp(-b*x)*cos(c*x + d) | a*exp(-b*x)*sin(c*x) | a*exp(-b*x)*cos(c*x)",
          "a damped oscillation", any_sign="acd"),
    _form("a/sqrt((b - x**2)**2 + c*x**2)", "resonance of a driven oscillation"),
    _form("a/sqrt(1 + b*x**2)", "the gain of a low-pass filter of first order"),
    _form("a/sqrt(1 + b*x**2*y**2)", "the gain of a low-pass filter of first order"),
    _form("sqrt(a + (b*x - c/x)**2)", "the impedance of a series circuit"),
    _form("a/sqrt(1 + b*x**4)", "the gain of Butterworth's filter of second order"),
    _form("a*sqrt(1 + b*x**2)", "the width of a Gaussian beam"),
    _form("sqrt(a + b*x**2/(x**2 - c))", "Sellmeier's dispersion"),
    _form("a/(1 + b*sin(c*x)**2)", "Airy's transmission of an etalon", any_sign="c"),
    _form("a*(sin(b*x)/x)**2", "diffraction by a slit", any_sign="b"),
    _form("a*cos(x - b)**2 | d + a*cos(x - b)**2", "Malus's law", any_sign="b"),
    _form("2*x*sin(y)", "Bragg's law"),
    _form("x*y/(y - x) | 1/(1/x - 1/y)", "the thin lens"),
    _form("x*y/(x + y) | 1/(1/x + 1/y)", "resistors in parallel", "the reduced mass"),
    _form("(x - y)**2/(x + y)**2", "Fresnel's reflectance"),
    _form("x*y/(y + z)", "the voltage divider"),
    _form("a*(exp(b*x) - 1)", "Shockley's diode"),
    _form("a*(exp(b*x/y) - 1)", "Shockley's diode"),
    _form("a*(exp(b*x*y/z) - 1)", "Shockley's diode"),
    _form("x*(1 - exp(-y/(z*w)))", "charging of a capacitor"),
    _form("a*(exp(b*x) - exp(-c*x))", "Butler-Volmer's current"),
    # Several columns.
    _form("a*x/y", "the ideal gas law", "Ohm's law"),
    _form("a*x*y/z**2", "Newton's law of gravitation", "Coulomb's law", any_sign="a"),
    _form("a*x*y**2", "the volume of a cylinder or a cone", "kinetic energy", "Joule's heat"),
    _form("a*x**4*y/z", "Hagen-Poiseuille's flow"),
    _form("a*x/(y - b) - c/y**2", "van der Waals's gas"),
    _form("a*exp(-b*x*y)", "Beer-Lambert's law"),
    _form("a - b*x*log(y/z)", "Nernst's potential", any_sign="a"),
    _form("a + b*log(x/y)", "Henderson-Hasselbalch's buffer", "Nernst's potential", any_sign="a"),
    _form("x*log(y/z)", "Tsiolkovsky's rocket"),
    _form("a*x**n*y**m", "the Cobb-Douglas production"),
    _form("a*(x**n + b*y**n)**p", "the CES production", any_sign="np"),
    _form("1/(1 + exp(a + b*x + c*y))", "logistic regression", any_sign="abc"),
    _form("a*x/(1 - (1 + x)**(-y))", "the annuity of a loan"),
    _form("sqrt(x*(1 - x)/y)", "the standard error of a share"),
    _form("sqrt(a*x*y/z)", "the economic order quantity", "the speed of sound"),
    _form("x/(y - z)", "Gordon's price of a share"),
    _form("x/(1 + a*y)", "hyperbolic discounting"),
)  # fmt: skip
